package guard

import (
	"net/http"
	"path"
	"strings"
	"time"
)

// bodyTime is what a browser has to send the body of a request.
const bodyTime = 10 * time.Second

// UnderBase removes the path of the public address, for proxies that leave it
// on.
func UnderBase(base string, next http.Handler) http.Handler {
	if base == "" {
		return next
	}
	stripped := http.StripPrefix(base, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.EscapedPath(), base+"/") {
			stripped.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// pagePolicy allows a page our style, our script, our stream and our archived texts.
const pagePolicy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// TextPolicy is for everything that is not one of our pages.
const TextPolicy = "default-src 'none'; sandbox; frame-ancestors 'none'"

// Secured sets the headers that every answer has, and answers clean paths alone.
func Secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		// With no-referrer, a browser hides the origin of our own forms, too.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if r.ContentLength != 0 {
			// A body that does not come keeps a connection open. Streams have none.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
		}
		if !isClean(r.URL.EscapedPath()) {
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isClean reports whether a path has no empty or dotted part. The router would
// redirect such a path to a clean one, without the path of the public address.
func isClean(p string) bool {
	clean := path.Clean(p)
	return p == "" || p == clean || clean != "/" && p == clean+"/"
}
