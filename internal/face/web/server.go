package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed" // the style and the script
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/user"
)

// bodyTime is what a browser has to send the body of a request.
const bodyTime = 10 * time.Second

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

//go:embed pages/style.css
var styleText string

//go:embed pages/live.js
var scriptText string

// Handler answers the requests of browsers that have the token, or that of a user of the
// site. Public is the address
// at which a reverse proxy offers the pages, nil without one; its path is a prefix of
// all paths. Requests pass, in this order: the
// headers that every answer has, the check of Host and Origin, the token. Whoever has a
// smaller role sees the pages of a site that allows no more.
func Handler(site *Site, token string, public *url.URL) http.Handler {
	site.begin()
	g := guard{token: token, public: public, users: site.Users, proxy: site.Proxy}
	base := ""
	if public != nil {
		base = strings.TrimSuffix(public.EscapedPath(), "/")
	}
	pages, api := map[user.Role]http.Handler{}, map[user.Role]http.Handler{}
	for _, role := range user.Roles {
		part := site.as(role)
		s := &server{site: part, base: base, decisions: decisionsOf(part.Decisions), uploads: make(chan struct{}, 2)}
		mux := http.NewServeMux()
		s.routes(mux)
		pages[role] = mux
		calls := http.NewServeMux()
		s.apiRoutes(calls)
		api[role] = calls
	}
	assets := http.NewServeMux()
	assets.Handle("GET /style.css", asset("text/css; charset=utf-8", styleText))
	assets.Handle("GET /live.js", asset("text/javascript; charset=utf-8", scriptText))
	assets.Handle(apiPath+"/", g.bearers(api))
	assets.Handle("/", g.tokens(base, pages))
	return secured(g.origins(underBase(base, assets)))
}

// as is the site as a role may use it.
func (s *Site) as(role user.Role) *Site {
	part := &Site{Home: s.Home, Project: s.Project, Desk: s.Desk, Version: s.Version, Standing: s.Standing, PDF: s.PDF, spends: s.Works, seen: s.seen}
	if role.May(user.Decide) {
		part.Decisions = s.Decisions
	}
	if role.May(user.Work) {
		part.Works, part.Audit = s.Works, s.Audit
	}
	return part
}

func asset(kind, text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = io.WriteString(w, text)
	})
}

// underBase removes the path of the public address, for proxies that leave it
// on.
func underBase(base string, next http.Handler) http.Handler {
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

// textPolicy is for everything that is not one of our pages.
const textPolicy = "default-src 'none'; sandbox; frame-ancestors 'none'"

func secured(next http.Handler) http.Handler {
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

const tokenName = "token"

// guard decides who may see the pages.
type guard struct {
	token  string
	public *url.URL
	users  user.List
	proxy  Proxy
}

// Proxy is a reverse proxy that says who sends a request: in a header, with a secret in
// another one, so that nobody who goes around the proxy can say so.
type Proxy struct{ Header, Secret string }

// SecretHeader is where a proxy sends its secret.
const SecretHeader = "X-Tidegate-Proxy-Secret"

// enters is who sends a request with a token, or by the word of a proxy.
func (g guard) enters(r *http.Request, token string) (actor tidegate.Actor, role user.Role, ok bool) {
	actor.Kind = tidegate.Person
	var known user.User
	var err error
	if named := r.Header.Values(g.proxy.Header); g.proxy.Header != "" && len(named) > 0 {
		secrets := r.Header.Values(SecretHeader)
		if len(named) != 1 || len(secrets) != 1 || !same(secrets[0], g.proxy.Secret) {
			return actor, "", false
		}
		actor.By = tidegate.ByProxy
		known, ok, err = g.users.ByName(named[0])
	} else {
		actor.By = tidegate.ByToken
		if same(token, g.token) {
			return actor, user.Work, true
		}
		known, ok, err = g.users.ByToken(token)
	}
	if err != nil {
		slog.Warn("nobody on the list of users is let in", "error", tidegate.AsError(err).Message)
	}
	actor.Name = known.Name
	return actor, known.Role, ok
}

// origins refuses a Host that is a name other than ours: somebody may have pointed
// that name at this machine to get around the browser's rules. That cannot be done
// with an address. It also refuses an Origin other than ours, and what a page of another
// origin asks for as a part of itself.
func (g guard) origins(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.ownHost(r.Host) {
			http.Error(w, "this server does not answer for that host", http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && !g.ownOrigin(origin, r.Host) || foreignPart(r.Header) {
			http.Error(w, "a page of another origin may not ask this server", http.StatusForbidden)
			return
		}
		// A browser says where a form comes from. What does not say so is not from a browser.
		if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Header.Get("Origin") == "" && !isJSON(r.Header) {
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

// isJSON reports whether a body is JSON, which no form sends.
func isJSON(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

func (g guard) ownHost(host string) bool {
	if g.public != nil && strings.EqualFold(host, g.public.Host) {
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
func (g guard) ownOrigin(origin, host string) bool {
	if g.public != nil && strings.EqualFold(origin, g.public.Scheme+"://"+g.public.Host) {
		return true
	}
	return strings.EqualFold(origin, "http://"+host) && (g.public == nil || !strings.EqualFold(host, g.public.Host))
}

// cookie is the name of the cookie. Servers on other ports of the same machine
// share cookies, so each has its own name.
func (g guard) cookie(r *http.Request) string {
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return "tidegate-" + strconv.Itoa(at.Port)
	}
	return "tidegate"
}

// cookieDays is how long a browser keeps the token.
const cookieDays = 30

// tokens lets in everybody who has a token: on the first visit in the address,
// which sets a cookie and removes the token from the address, and later in that
// cookie. What they see depends on their role.
func (g guard) tokens(base string, pages map[user.Role]http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if query.Has(tokenName) && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			given := query.Get(tokenName)
			if _, _, ok := g.enters(r, given); !ok {
				g.refuse(w)
				return
			}
			http.SetCookie(w, &http.Cookie{Name: g.cookie(r), Value: given, Path: base + "/", MaxAge: cookieDays * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteLaxMode,
				Secure: g.public != nil && g.public.Scheme == "https"})
			query.Del(tokenName)
			// One slash: two would lead to another host.
			to := base + "/" + strings.TrimLeft(r.URL.EscapedPath(), `/\`)
			if len(query) > 0 {
				to += "?" + query.Encode()
			}
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
	if w.Header().Get("Content-Type") == streamType && !w.letIn() {
		return 0, fs.ErrPermission
	}
	return w.ResponseWriter.Write(data)
}

// bearers lets callers of the API in by their bearer token, or by the word of the proxy.
func (g guard) bearers(api map[user.Role]http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			given = ""
		}
		actor, role, ok := g.enters(r, strings.TrimSpace(given))
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer realm="tidegate"`)
			http.Error(w, "a bearer token is required", http.StatusUnauthorized)
			return
		}
		api[role].ServeHTTP(w, r.WithContext(tidegate.WithActor(r.Context(), actor)))
	})
}

// same compares secrets, in a time that says nothing about them.
func same(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return want != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

func (g guard) refuse(w http.ResponseWriter) {
	http.Error(w, "open the address that `tidegate serve` printed: it carries the token that lets you in", http.StatusUnauthorized)
}
