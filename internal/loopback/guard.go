// Package loopback guards pages that are served on this machine for the person in front of it.
//
// Other users of the machine reach the port, and so does every web site that the person's
// browser has open: by plain requests, and by a host name of its own that resolves to 127.0.0.1
// (DNS rebinding). A Guard therefore asks every request for a secret, by a cookie or in the query,
// compares it in constant time, and answers only under the names that a loopback interface has.
package loopback

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Guard is a handler in front of another one.
type Guard struct {
	Next http.Handler

	// Shared is the one origin from which scripts may read what Share accepts, with the secret in the
	// query; empty: none may.
	Shared string
	Share  func(path string) bool

	secret string
	cookie string // its name: cookies do not tell ports apart

	mu   sync.Mutex
	once map[string]bool // secrets that open the pages a single time
}

// NewGuard makes a guard with a new secret. name tells its cookie from those of others on the
// same machine.
func NewGuard(name string, next http.Handler) *Guard {
	return &Guard{Next: next, secret: rand.Text(), cookie: "gaprof_" + name, once: make(map[string]bool)}
}

// Token is the name of the secret in a query.
const Token = "token"

// Query is the query with which pages are opened, and files fetched without a cookie.
func (g *Guard) Query() string { return Token + "=" + g.secret }

// Once is a query that opens the pages a single time: for command lines, which other users of a
// machine can read.
func (g *Guard) Once() string {
	code := rand.Text()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.once[code] = true
	return Token + "=" + code
}

// headers that every answer has.
var headers = map[string]string{
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "no-store",
	"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}

// ServeHTTP answers, or says in a line why it does not.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	switch {
	case !isLoopback(r.Host):
		http.Error(w, "this name is not one of this machine's own: use 127.0.0.1 or localhost", http.StatusForbidden)
	case g.isShared(r):
		w.Header().Set("Access-Control-Allow-Origin", g.Shared)
		w.Header().Set("Vary", "Origin")
		w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
		g.Next.ServeHTTP(w, r)
	case isForeign(r):
		http.Error(w, "another site asks for this", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "read only", http.StatusMethodNotAllowed)
	case r.URL.Query().Has(Token):
		g.enter(w, r)
	case !g.hasCookie(r):
		http.Error(w, "no token: open the address that gaprof printed", http.StatusForbidden)
	default:
		g.Next.ServeHTTP(w, r)
	}
}

// isShared reports whether a script of the shared origin fetches what it may, and proves it.
func (g *Guard) isShared(r *http.Request) bool {
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	return g.Shared != "" && r.Header.Get("Origin") == g.Shared && read && g.Share(r.URL.Path) &&
		equal(r.URL.Query().Get(Token), g.secret)
}

// enter puts the secret of the query into a cookie and takes it out of the address.
func (g *Guard) enter(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if !g.accepts(query.Get(Token)) {
		http.Error(w, "this token is not valid, or was used: open the address that gaprof printed",
			http.StatusForbidden)
		return
	}
	query.Del(Token)
	to := url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/"), RawQuery: query.Encode()} // never //host
	http.SetCookie(w, &http.Cookie{
		Name: g.cookie, Value: g.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	w.Header().Set("Location", to.String())
	w.WriteHeader(http.StatusSeeOther)
}

// accepts reports whether a token is the secret, or one that was not used yet.
func (g *Guard) accepts(token string) bool {
	if equal(token, g.secret) {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for code := range g.once {
		if equal(token, code) {
			delete(g.once, code)
			return true
		}
	}
	return false
}

func (g *Guard) hasCookie(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(g.cookie), func(c *http.Cookie) bool { return equal(c.Value, g.secret) })
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// isLoopback reports whether a Host header names the loopback interface, with whatever port: one
// that is forwarded has another one.
func isLoopback(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, "80"
	}
	number := strings.Trim(port, "0123456789") == ""
	return number && slices.Contains([]string{"127.0.0.1", "localhost", "::1", "[::1]"}, name)
}

// isForeign reports whether a page of another origin asks, other than by a link that a person
// follows.
func isForeign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return true
	}
	site, mode := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode")
	return (site == "cross-site" || site == "same-site") && mode != "navigate"
}
