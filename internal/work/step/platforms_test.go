package step_test

import (
	"slices"
	"testing"

	"github.com/tidegate/tidegate/internal/work/step"
)

func TestPlatforms(t *testing.T) {
	services, domains, unlisted := step.Platforms([]string{" ArXiv", "exa", "Port statistics", "europa.eu", "evil.example/x", "pubmed"}, []string{"arxiv", "pubmed"})
	if !slices.Equal(services, []string{"arxiv", "pubmed"}) || !slices.Equal(domains, []string{"europa.eu"}) || !slices.Equal(unlisted, []string{"exa"}) {
		t.Errorf("services %v, domains %v, unlisted %v", services, domains, unlisted)
	}
}
