package source_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
)

func TestCID(t *testing.T) {
	for url, want := range map[string]string{
		"https://example.com/":             "cid_0f115db062b7c0dd030b16878c99dea5c354b49dc37b38eb8846179c7783e9d7",
		"https://example.com/a":            "cid_2dce0a4c50441bfccfa9caf4b58c3cba6e06c420505dd829f0436de1aa44baac",
		"https://example.com/path?a=1&b=2": "cid_94ab2087f4c4ce19d248cfbab9e2b19cc5065e443510f7f37cab7347aaa7df0c",
		"http://example.com/dir":           "cid_95ae74423c47bff8e8db31d8cc04babf7cf6213794495c99d5a76b53f9316bb8",
		"https://example.com/trailing":     "cid_9fdb6f213bdb23a482e31da618010d9f59bfa856ba8780cf32bf16b071746c8f",
	} {
		if got := source.CID(url); got != want {
			t.Errorf("CID(%q) = %s, want %s", url, got, want)
		}
		if got, err := link.Normalize(url); got != url || err != nil {
			t.Errorf("Normalize(%q) = %q, %v", url, got, err)
		}
	}
}
