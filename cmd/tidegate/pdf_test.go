package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestForeignBrowserPrints: a page is printed, the same each time, and whatever it asks
// for, no request leaves. The profile of the browser is gone afterwards.
func TestForeignBrowserPrints(t *testing.T) {
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		t.Skip("set TIDEGATE_OUTSIDERS=1 to print with an installed browser")
	}
	if _, err := findBrowser(); err != nil {
		t.Skip(err)
	}
	var asked atomic.Int32
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer trap.Close()
	t.Setenv("TMPDIR", t.TempDir())
	page := fmt.Appendf(nil, `<!doctype html><title>T</title><link rel=stylesheet href="%[1]s/a.css"><img src="%[1]s/a.png"><iframe src="%[1]s"></iframe><script>fetch("%[1]s/b")</script><p>Printed.`, trap.URL)
	first := must.Get(printPDF(t.Context(), page, "2026-02-03T09:00:00Z"))(t)
	second, err := printPDF(t.Context(), page, "2026-02-03T09:00:00Z")
	if err != nil || !bytes.Equal(first, second) || !bytes.HasPrefix(first, []byte("%PDF-")) || !bytes.Contains(first, []byte("D:20260203090000+00'00'")) {
		t.Errorf("printed twice, with two results: %v", err)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests left", n)
	}
	if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestNoBrowser: where none is installed, the error names what would do.
func TestNoBrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for system := range browsers {
		if system != "" {
			defer func(was []string) { browsers[system] = was }(browsers[system])
			browsers[system] = nil
		}
	}
	_, err := printPDF(t.Context(), nil, "")
	if tidegate.CodeOf(err) != tidegate.FileNotFound || !bytes.Contains([]byte(err.Error()), []byte("install Chromium, Chrome or Edge")) {
		t.Error(err)
	}
}
