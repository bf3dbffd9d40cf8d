package guard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestOnlyCleanPathsAreAnswered(t *testing.T) {
	for path, want := range map[string]bool{
		"": true, "/": true, "/runs": true, "/runs/": true, "/changes/..%2f..": true, "//": false, "/./runs": false, "/a//b": false, "/a/../b": false,
	} {
		if isClean(path) != want {
			t.Errorf("%q is taken for clean: %v", path, !want)
		}
	}
}

// bounded is a writer that records the read deadline of its request.
type bounded struct {
	http.ResponseWriter
	until time.Time
}

func (w *bounded) SetReadDeadline(t time.Time) error {
	w.until = t
	return nil
}

// TestABodyMustComeSoon: a request with a body keeps its connection only for a while;
// one without, such as a stream, as long as it likes.
func TestABodyMustComeSoon(t *testing.T) {
	for body, limited := range map[string]bool{"": false, "a=b": true} {
		w := &bounded{ResponseWriter: httptest.NewRecorder()}
		Secured(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest("POST", "/runs", strings.NewReader(body)))
		if w.until.IsZero() == limited {
			t.Errorf("a body of %d bytes may come until %v", len(body), w.until)
		}
	}
}
