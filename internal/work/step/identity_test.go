package step_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/planted"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// library answers for the planted papers and their registries, and counts how often it
// is asked about each address.
func library(asked map[string]int) sourcing.Fetch {
	return func(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
		for _, url := range urls {
			asked[url]++
			status, media, body, ok := planted.Registry(url)
			if !ok {
				page, found := planted.Landing(url)
				status, media, body = 200, "text/html; charset=utf-8", []byte(page)
				if !found {
					status, body = 404, []byte("<title>Not found</title>")
				}
			}
			packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.Responded, Time: runs.Pinned.Now(), Hops: []archive.Hop{
				{URL: url, Time: runs.Pinned.Now(), Status: status, Header: []archive.Field{{Name: "Content-Type", Value: media}}, Body: body}}})
			if err == nil {
				err = keep([]*archive.Packed{packed})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// TestIdentity judges two hundred references in a run: those with a fault must be found,
// and at most one in twenty of the others may be. Judged again without any connection
// the records are the same bytes.
func TestIdentity(t *testing.T) {
	references := planted.References()
	if len(references) != 200 {
		t.Fatalf("%d references", len(references))
	}
	made := runs.Create(t, run.InitInput{})
	for i, r := range references {
		output := fmt.Sprintf("## Findings\n\nText.\n\n## Sources\n\n- %s\n\n## Gaps\n\nNone.\n", r.Line)
		must.Do(t, os.WriteFile(filepath.Join(made.Root, "wave-1", fmt.Sprintf("p%03d.md", i)), []byte(output), 0o600))
	}
	asked := map[string]int{}
	must.Get(sourcing.ValidateCitations(t.Context(), runs.Pinned, library(asked), sourcing.CitationsInput{ManifestPath: made.ManifestPath, Reason: "test"}))(t)
	for url, n := range asked {
		if n > 1 {
			t.Errorf("%s was asked %d times", url, n)
		}
	}
	kept := must.Get(os.ReadFile(filepath.Join(made.Root, "citations", "citations.jsonl")))(t)
	list := must.Get(sourcing.ListCitations(t.Context(), runs.Pinned, made.ManifestPath))(t)
	byPlace := map[string]int{}
	for i, record := range list.Records {
		for _, f := range record.FoundBy {
			byPlace[f.Perspective] = i
		}
	}
	found, missed, alarms := map[string]int{}, map[string]int{}, 0
	right, wrong := 0, 0
	for i, r := range references {
		record := list.Records[byPlace[fmt.Sprintf("p%03d", i)]]
		switch {
		case r.Rule == "" && !record.Usable():
			alarms++
			t.Logf("false alarm: %s: %s: %s", r.Kind, r.Line, record.Notes)
		case r.Rule != "" && record.Rule == r.Rule:
			found[r.Kind]++
			right++
		case r.Rule != "":
			missed[r.Kind]++
			wrong++
			t.Logf("missed: %s: %s: %s (%s)", r.Kind, r.Line, record.Notes, record.Rule)
		}
		if r.Kind == "right" && (record.Author == "" || record.Published == "" || record.Publisher == "" || record.Identifier == "") {
			t.Errorf("%s: author %q, published %q, publisher %q, id %q", r.Line, record.Author, record.Published, record.Publisher, record.Identifier)
		}
	}
	honest := len(references) - right - wrong
	precision, recall := float64(right)/float64(right+alarms), float64(right)/float64(right+wrong)
	t.Logf("precision %.3f, recall %.3f, false alarms %d of %d; found %v, missed %v", precision, recall, alarms, honest, found, missed)
	if 20*alarms > honest || recall < 0.9 {
		t.Errorf("precision %.3f, recall %.3f, false alarms %d of %d", precision, recall, alarms, honest)
	}
	must.Get(sourcing.ValidateCitations(t.Context(), runs.Pinned, noFetch(t), sourcing.CitationsInput{ManifestPath: made.ManifestPath, Reason: "test"}))(t)
	again, err := os.ReadFile(filepath.Join(made.Root, "citations", "citations.jsonl"))
	if err != nil || string(again) != string(kept) {
		t.Errorf("the same archive gives other records: %v", err)
	}
	if !strings.Contains(string(kept), `"identifier":"doi:10.5555/planted.1"`) {
		t.Error("no record has an id")
	}
}
