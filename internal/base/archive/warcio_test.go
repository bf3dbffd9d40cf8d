package archive_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

// warcio is what other people read archives with.
const warcio = "warcio@2.4.11"

const script = `
import fs from 'fs';
import crypto from 'crypto';
import { WARCParser } from 'warcio';
const sha = (data) => 'sha256:' + crypto.createHash('sha256').update(data).digest('hex');
const out = [];
const parser = new WARCParser(fs.createReadStream(process.argv[2]));
for await (const record of parser) {
  const payload = await record.readFully(true);
  const http = record.httpHeaders;
  out.push({
    type: record.warcType,
    target: record.warcTargetURI || '',
    status: record.warcType === 'response' ? http.statusCode : 0,
    content_type: record.warcType === 'response' ? http.headers.get('content-type') || '' : '',
    payload: sha(payload),
    says: record.warcHeader('WARC-Payload-Digest') || '',
    offset: parser.offset,
  });
}
console.log(JSON.stringify(out));
`

// TestAForeignReaderSeesTheSame reads our archive with the npm package warcio.
func TestAForeignReaderSeesTheSame(t *testing.T) {
	dir := npmPackage(t)
	file := filepath.Join(t.TempDir(), "archive.warc.gz")
	all := samples()
	must.Do(t, os.WriteFile(file, bytesOf(t, all...), 0o600))
	path := filepath.Join(dir, "read.mjs")
	must.Do(t, os.WriteFile(path, []byte(script), 0o600))
	cmd := exec.Command("node", path, file)
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.Output())(t)
	type seen struct {
		Type, Target, Payload, Says string
		Status                      int
		ContentType                 string `json:"content_type"`
		Offset                      int64
	}
	var got []seen
	must.Do(t, json.Unmarshal(out, &got))
	var want []seen
	for i, c := range all {
		for _, hop := range c.Hops {
			if digest := codec.DigestBytes(hop.Body); c.Kind == archive.Attached {
				want = append(want, seen{Type: "resource", Target: hop.URL, Payload: digest, Says: digest})
			} else {
				want = append(want, seen{Type: "request", Target: hop.URL},
					seen{Type: "response", Target: hop.URL, Payload: digest, Says: digest, Status: hop.Status, ContentType: hop.Get("Content-Type")})
			}
		}
		last := seen{Type: "metadata", Target: c.URL}
		switch {
		case i == 4:
			last.Target = "https://nowhere.example/K%C3%B6ln%20weg"
		case c.Kind == archive.Malformed:
			last.Target = ""
		}
		want = append(want, last)
	}
	refs := []archive.Ref{}
	for _, entry := range open(t, holding(t, bytesOf(t, all...)), nil).Entries() {
		refs = append(refs, entry.Records...)
	}
	if len(refs) != len(got) {
		t.Fatalf("%d records, and warcio sees %d", len(refs), len(got))
	}
	for i := range got {
		if got[i].Offset != refs[i].Offset {
			t.Errorf("record %d lies at %d, and warcio sees it at %d", i, refs[i].Offset, got[i].Offset)
		}
		got[i].Offset = 0
		if got[i].Type == "request" || got[i].Type == "metadata" {
			got[i].Payload = ""
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-written +seen by warcio):\n%s", diff)
	}
}

// npmPackage is a folder in which the npm package is installed.
func npmPackage(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("no place for the npm package: %v", err)
	}
	dir := filepath.Join(cache, "tidegate-test", warcio)
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "warcio", "package.json")); err == nil {
		return dir
	}
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		t.Skip("set TIDEGATE_OUTSIDERS=1 to install warcio from npm and test with it")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Skipf("no place for the npm package: %v", err)
	}
	out, err := exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund",
		"--fetch-retries=0", warcio).CombinedOutput()
	if err != nil {
		t.Skipf("npm cannot install warcio: %v\n%s", err, out)
	}
	return dir
}
