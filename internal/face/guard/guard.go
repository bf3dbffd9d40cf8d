// Package guard decides who may see the pages, and what a browser may do with them: the
// token of the person and those of users, the word of a proxy, hosts and origins, the headers
// of every answer, and forms that can be sent once.
package guard

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"html"
	"io/fs"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/user"
)

const tokenName = "token"

// StreamType is the kind of an answer that goes on.
const StreamType = "text/event-stream"

// NewToken makes a token that nobody can guess.
func NewToken() string { return rand.Text() }

// Address is what a person opens in a browser: pages that are served at host, or
// offered by a reverse proxy at public where that is not nil. It carries the token.
func Address(host string, public *url.URL, token string) string {
	open := &url.URL{Scheme: "http", Host: host, Path: "/"}
	if public != nil {
		open = public.JoinPath("/")
	}
	open.RawQuery = url.Values{tokenName: {token}}.Encode()
	return open.String()
}

// ParsePublic reads the address of a reverse proxy. It returns INVALID_ARGS for
// what is not an http or https address without query, fragment and user.
func ParsePublic(given string) (*url.URL, error) {
	u, err := url.Parse(given)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("public-url", tidegate.Cut(given)),
			"--public-url must be an address such as https://example.org/tidegate, got %q", tidegate.Cut(given))
	}
	return u, nil
}

// Guard decides who may see the pages.
type Guard struct {
	Token  string
	Public *url.URL // of a reverse proxy; nil without one
	Users  user.List
	Proxy  Proxy
}

// Proxy is a reverse proxy that says who sends a request: in a header, with a secret in
// another one, so that nobody who goes around the proxy can say so.
type Proxy struct{ Header, Secret string }

// SecretHeader is where a proxy sends its secret.
const SecretHeader = "X-Tidegate-Proxy-Secret"

// enters is who sends a request with a token, or by the word of a proxy.
func (g Guard) enters(r *http.Request, token string) (actor tidegate.Actor, role user.Role, ok bool) {
	actor.Kind = tidegate.Person
	var known user.User
	var err error
	if named := r.Header.Values(g.Proxy.Header); g.Proxy.Header != "" && len(named) > 0 {
		secrets := r.Header.Values(SecretHeader)
		if len(named) != 1 || len(secrets) != 1 || !same(secrets[0], g.Proxy.Secret) {
			return actor, "", false
		}
		actor.By = tidegate.ByProxy
		known, ok, err = g.Users.ByName(named[0])
	} else {
		actor.By = tidegate.ByToken
		if same(token, g.Token) {
			return actor, user.Work, true
		}
		known, ok, err = g.Users.ByToken(token)
	}
	if err != nil {
		slog.Warn("nobody on the list of users is let in", "error", tidegate.AsError(err).Message)
	}
	actor.Name = known.Name
	return actor, known.Role, ok
}

// Origins refuses a Host that is a name other than ours: somebody may have pointed
// that name at this machine to get around the browser's rules. That cannot be done
// with an address. It also refuses an Origin other than ours, and what a page of another
// origin asks for as a part of itself.
func (g Guard) Origins(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.ownHost(r.Host) {
			http.Error(w, "this server does not answer for that host", http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && !g.ownOrigin(origin, r.Host) || foreignPart(r.Header) {
			http.Error(w, "a page of another origin may not ask this server", http.StatusForbidden)
			return
		}
		// A browser says where a form comes from, and no form brings a token in a header.
		if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Header.Get("Origin") == "" && !IsJSON(r.Header) && r.Header.Get("Authorization") == "" {
			http.Error(w, "a form must say where it comes from", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreignPart reports whether a page of another origin asks for a part of itself, such as a
// picture. For a browser, servers on other ports of this machine are the same site, so that
// it sends them our cookie, too.
func foreignPart(h http.Header) bool {
	from := h.Get("Sec-Fetch-Site")
	return (from == "cross-site" || from == "same-site") && h.Get("Sec-Fetch-Mode") != "navigate"
}

// IsJSON reports whether a body is JSON, which no form sends.
func IsJSON(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

func (g Guard) ownHost(host string) bool {
	if g.Public != nil && strings.EqualFold(host, g.Public.Host) {
		return true
	}
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	return strings.EqualFold(name, "localhost") || net.ParseIP(name) != nil
}

// ownOrigin reports whether an origin is ours: at the public address only with its
// own scheme, elsewhere at the host that was asked.
func (g Guard) ownOrigin(origin, host string) bool {
	if g.Public != nil && strings.EqualFold(origin, g.Public.Scheme+"://"+g.Public.Host) {
		return true
	}
	return strings.EqualFold(origin, "http://"+host) && (g.Public == nil || !strings.EqualFold(host, g.Public.Host))
}

// cookie is the name of the cookie. Servers on other ports of the same machine
// share cookies, so each has its own name.
func (g Guard) cookie(r *http.Request) string {
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return "tidegate-" + strconv.Itoa(at.Port)
	}
	return "tidegate"
}

// cookieDays is how long a browser keeps the token.
const cookieDays = 30

func (g Guard) setCookie(w http.ResponseWriter, r *http.Request, base, token string) {
	http.SetCookie(w, &http.Cookie{Name: g.cookie(r), Value: token, Path: base + "/", MaxAge: cookieDays * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: g.Public != nil && g.Public.Scheme == "https"})
}

// askInstead asks whether a token takes the place of a cookie that lets in somebody else: a
// link that others made must not make a browser theirs. Yes is a form that only our own page
// can send, and no leads on as before.
func askInstead(w http.ResponseWriter, yes, no string, is, would tidegate.Actor) {
	named := func(a tidegate.Actor) string {
		return html.EscapeString(cmp.Or(a.Name, "the person who started this server"))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusConflict)
	fmt.Fprintf(w, `<!doctype html><html lang="en"><meta charset="utf-8"><title>tidegate</title><main><h1>Go on as somebody else?</h1>
<p>This browser is let in as %s. The link that was opened would let it in as %s from now on.</p>
<form method="post" action="%s"><button>Go on as %s</button></form>
<p><a href="%s">Stay as %s</a></p></main></html>
`, named(is), named(would), html.EscapeString(yes), named(would), html.EscapeString(no), named(is))
}

// Tokens lets in everybody who has a token: on the first visit in the address,
// which sets a cookie and removes the token from the address, and later in that
// cookie. A cookie that lets in somebody else is replaced with a yes alone. What they see
// depends on their role.
func (g Guard) Tokens(base string, pages map[user.Role]http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if query.Has(tokenName) && (r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodPost) {
			given := query.Get(tokenName)
			would, _, ok := g.enters(r, given)
			if !ok {
				g.refuse(w)
				return
			}
			query.Del(tokenName)
			// One slash: two would lead to another host.
			to := base + "/" + strings.TrimLeft(r.URL.EscapedPath(), `/\`)
			if len(query) > 0 {
				to += "?" + query.Encode()
			}
			if held, err := r.Cookie(g.cookie(r)); err == nil && held.Value != given && r.Method != http.MethodPost {
				if is, _, ok := g.enters(r, held.Value); ok {
					query.Set(tokenName, given)
					askInstead(w, base+"/"+strings.TrimLeft(r.URL.EscapedPath(), `/\`)+"?"+query.Encode(), to, is, would)
					return
				}
			}
			g.setCookie(w, r, base, given)
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
		given := ""
		if cookie, err := r.Cookie(g.cookie(r)); err == nil {
			given = cookie.Value
		}
		actor, role, ok := g.enters(r, given)
		if !ok {
			g.refuse(w)
			return
		}
		if r.Method == http.MethodGet {
			w = whileLetIn{w, func() bool {
				_, now, ok := g.enters(r, given)
				return ok && now == role
			}}
		}
		pages[role].ServeHTTP(w, r.WithContext(tidegate.WithActor(r.Context(), actor)))
	})
}

// whileLetIn is an answer that may last longer than a user: a stream goes on only as long as
// who asked for it is let in.
type whileLetIn struct {
	http.ResponseWriter
	letIn func() bool
}

// Unwrap lets [http.ResponseController] reach the connection.
func (w whileLetIn) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w whileLetIn) Write(data []byte) (int, error) {
	if w.Header().Get("Content-Type") == StreamType && !w.letIn() {
		return 0, fs.ErrPermission
	}
	return w.ResponseWriter.Write(data)
}

// Bearers lets callers of the API in by their bearer token, or by the word of the proxy.
func (g Guard) Bearers(api map[user.Role]http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			given = ""
		}
		actor, role, ok := g.enters(r, strings.TrimSpace(given))
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer realm="tidegate"`)
			SendProblem(w, http.StatusUnauthorized, tidegate.Errorf(tidegate.NotAuthenticated, nil, "a bearer token is required: Authorization: Bearer TOKEN"))
			return
		}
		api[role].ServeHTTP(w, r.WithContext(tidegate.WithActor(r.Context(), actor)))
	})
}

// SendProblem answers a call of the API with what is wrong, in the envelope of tools.
func SendProblem(w http.ResponseWriter, status int, problem error) {
	e := tidegate.AsError(problem)
	details := e.Details
	if details == nil {
		details = tidegate.Pairs()
	}
	data, err := codec.MarshalFile(codec.Of(tidegate.Pairs("ok", false, "error", tidegate.Pairs("code", e.Code, "message", e.Message, "details", details))))
	if err != nil {
		http.Error(w, e.Message, status)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Security-Policy", TextPolicy)
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

// same compares secrets, in a time that says nothing about them.
func same(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return want != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

func (g Guard) refuse(w http.ResponseWriter) {
	http.Error(w, "open the address that `tidegate serve` printed: it carries the token that lets you in", http.StatusUnauthorized)
}
