package step_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// TestReaderNeverSeesAPackWithoutItsSummaries reads the pack and its summaries
// again and again while builds follow one another. Every build numbers its texts:
// a reader that sees the pack of build n must find summaries of build n or a later
// one.
func TestReaderNeverSeesAPackWithoutItsSummaries(t *testing.T) {
	const builds, perspectives = 6, 40
	r := newPackRun(t)
	var entries []string
	for i := range perspectives {
		entries = append(entries, fmt.Sprintf(`{"id":"p%02d"}`, i))
	}
	r.write("perspectives.json", `{"schema_version":"perspectives.v1","perspectives":[`+strings.Join(entries, ",")+`]}`)
	fill := func(build int) {
		for i := range perspectives {
			r.fixture(fmt.Sprintf("p%02d", i), fmt.Sprintf("Build %04d [@cid_a].\n", build))
		}
	}
	fill(0)
	r.mustBuild()
	stop := make(chan struct{})
	var readers sync.WaitGroup
	reads := make([]int, 2)
	for n := range reads {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if fault := readAll(r); fault != "" {
					t.Error(fault)
					return
				}
				reads[n]++
			}
		})
	}
	for build := range builds {
		fill(build + 1)
		r.mustBuild()
	}
	close(stop)
	readers.Wait()
	if reads[0]+reads[1] == 0 {
		t.Error("nobody read anything")
	}
}

// readAll reads a pack and every summary that it lists, and says what is wrong.
func readAll(r *packRun) string {
	data, err := os.ReadFile(r.path("summaries/summary-pack.json"))
	if err != nil {
		return err.Error()
	}
	pack, err := codec.Parse(data)
	if err != nil {
		return err.Error()
	}
	for _, entry := range pack.Get("summaries").Elems() {
		text, err := os.ReadFile(r.path(entry.Get("summary_md").Str()))
		if err != nil {
			return err.Error()
		}
		if codec.DigestBytes(text) == entry.Get("summary_digest").Str() {
			continue
		}
		var packed, found int
		fmt.Sscanf(entry.Get("key_claims").Elems()[0].Get("claim").Str(), "Build %d", &packed)
		fmt.Sscanf(string(text), "Build %d", &found)
		if found < packed {
			return fmt.Sprintf("the pack is of build %d, %s of build %d", packed, entry.Get("summary_md").Str(), found)
		}
	}
	return ""
}
