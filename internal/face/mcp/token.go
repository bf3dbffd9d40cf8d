package mcp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/user"
)

// withToken lets only callers through that have the token, or one of a user. Without a
// token, everybody is let through until the first user is on the list; whoever takes the last
// one off again does not mean to let everybody in. How long the
// answer takes says nothing about a token. Whoever they are, they call as agents; those
// whose role is not to work may only read.
func withToken(token string, users user.List, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	var closed atomic.Bool
	closed.Store(token != "")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !closed.Load() {
			listed, err := users.All()
			if err == nil && len(listed) == 0 {
				next.ServeHTTP(w, r)
				return
			}
			closed.Store(err == nil)
		}
		given := bearer(r.Header.Get("Authorization"))
		got := sha256.Sum256([]byte(given))
		if token == "" || subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
			known, ok, err := users.ByToken(given)
			if err != nil {
				slog.Warn("nobody on the list of users is let in", "error", tidegate.AsError(err).Message)
			}
			if !ok {
				// The answer does not wait for a body that a stranger may never send.
				_ = http.NewResponseController(w).EnableFullDuplex()
				w.Header().Set("Connection", "close")
				w.Header().Set("WWW-Authenticate", `Bearer realm="tidegate"`)
				http.Error(w, "a bearer token is required", http.StatusUnauthorized)
				return
			}
			r = r.WithContext(context.WithValue(r.Context(), roleKey{}, known.Role))
		}
		next.ServeHTTP(w, r)
	})
}

type roleKey struct{}

// onlyReads reports whether a request is of a user whose role is not to work.
func onlyReads(r *http.Request) bool {
	role, named := r.Context().Value(roleKey{}).(user.Role)
	return named && !role.May(user.Work)
}

// bearer is the token in an Authorization header.
func bearer(header string) string {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
