package web

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// TestFirstBytesGoAhead: the first bytes of a slow page come after a moment, and the
// rest when it is made; a fast page comes as a whole, with its status.
func TestFirstBytesGoAhead(t *testing.T) {
	t.Parallel()
	const rest = "<title>x</title>"
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		e := begin(w, httptest.NewRequest(http.MethodGet, "/", nil))
		time.Sleep(earlyTime + time.Millisecond)
		synctest.Wait()
		if w.Body.String() != firstBytes || !w.Flushed || w.Code != http.StatusOK {
			t.Errorf("after %v there is %d, %q", earlyTime, w.Code, w.Body)
		}
		time.Sleep(time.Second)
		e.end(http.StatusNotFound, []byte(firstBytes+rest))
		if w.Body.String() != firstBytes+rest {
			t.Errorf("the page is %q", w.Body)
		}
		time.Sleep(time.Second)
	})
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		begin(w, httptest.NewRequest(http.MethodGet, "/", nil)).end(http.StatusNotFound, []byte(firstBytes+rest))
		time.Sleep(time.Second)
		if w.Body.String() != firstBytes+rest || w.Code != http.StatusNotFound {
			t.Errorf("the page is %d, %q", w.Code, w.Body)
		}
	})
}
