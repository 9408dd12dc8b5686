package loopback

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// hello answers every request.
var hello = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })

func newTestGuard() *Guard {
	g := NewGuard("1", hello)
	g.Shared = "https://viewer.example"
	g.Share = func(path string) bool { return strings.HasPrefix(path, "/trace/") }
	return g
}

// ask is a request to a guard: words are METHOD, path, then headers as Name=value; $T is the secret.
func ask(g *Guard, line string) *http.Response {
	words := strings.Fields(strings.ReplaceAll(line, "$T", g.secret))
	r := httptest.NewRequest(words[0], words[1], nil)
	r.Host = "127.0.0.1:1234"
	for _, h := range words[2:] {
		name, value, _ := strings.Cut(h, ":")
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w.Result()
}

func TestGuard(t *testing.T) {
	g := newTestGuard()
	const cookie = " Cookie:gaprof_1=$T"
	for line, want := range map[string]int{
		"GET /":                                                                 403,
		"GET /?token=":                                                          403,
		"GET /?token=x":                                                         403,
		"GET /?token=$Tx":                                                       403,
		"GET /?token=$T":                                                        303,
		"GET / Cookie:gaprof_1=x":                                               403,
		"GET / Cookie:gaprof_1=":                                                403,
		"GET / Cookie:gaprof_2=$T":                                              403, // of another port
		"GET /" + cookie:                                                        200,
		"HEAD /" + cookie:                                                       200,
		"POST /" + cookie:                                                       405,
		"PUT /" + cookie:                                                        405,
		"DELETE /" + cookie:                                                     405,
		"OPTIONS /" + cookie:                                                    405,
		"TRACE /" + cookie:                                                      405,
		"POST /?token=$T":                                                       405,
		"GET / Host:localhost:1" + cookie:                                       200,
		"GET / Host:localhost" + cookie:                                         200,
		"GET / Host:[::1]:1" + cookie:                                           200,
		"GET / Host:127.0.0.1" + cookie:                                         200,
		"GET / Host:evil.example:1234" + cookie:                                 403,
		"GET / Host:127.0.0.1.evil.example" + cookie:                            403,
		"GET / Host:localhost.evil.example" + cookie:                            403,
		"GET / Host:localhost:1@evil" + cookie:                                  403,
		"GET / Host:0.0.0.0:1234" + cookie:                                      403,
		"GET /?token=$T Host:evil.example":                                      403,
		"GET / Origin:http://127.0.0.1:1234" + cookie:                           200,
		"GET / Origin:http://127.0.0.1:9999" + cookie:                           403, // another program here
		"GET / Origin:https://127.0.0.1:1234" + cookie:                          403,
		"GET / Origin:null" + cookie:                                            403,
		"GET / Origin:https://evil.example" + cookie:                            403,
		"GET / Origin:https://viewer.example" + cookie:                          403, // no token
		"GET /trace/x Origin:https://viewer.example" + cookie:                   403,
		"GET /trace/x?token=$T Origin:https://viewer.example":                   200,
		"HEAD /trace/x?token=$T Origin:https://viewer.example":                  200,
		"POST /trace/x?token=$T Origin:https://viewer.example":                  403,
		"GET /trace/x?token=x Origin:https://viewer.example":                    403,
		"GET /page?token=$T Origin:https://viewer.example":                      403,
		"GET /trace/x?token=$T Origin:https://viewer.example.evil":              403,
		"GET /trace/x?token=$T Origin:http://viewer.example":                    403,
		"GET /trace/x?token=$T Origin:https://viewer.example Host:evil.example": 403,
		"GET / Sec-Fetch-Site:cross-site Sec-Fetch-Mode:no-cors" + cookie:       403,
		"GET / Sec-Fetch-Site:same-site Sec-Fetch-Mode:cors" + cookie:           403,
		"GET / Sec-Fetch-Site:cross-site Sec-Fetch-Mode:navigate" + cookie:      200,
		"GET / Sec-Fetch-Site:same-origin Sec-Fetch-Mode:cors" + cookie:         200,
	} {
		got := ask(g, line)
		if got.StatusCode != want {
			t.Errorf("%s: %s, want %d", line, got.Status, want)
		}
		if shared := got.Header.Get("Access-Control-Allow-Origin"); (shared != "") !=
			(want == 200 && strings.Contains(line, "Origin:https://viewer.example")) || shared == "*" {
			t.Errorf("%s: shared with %q", line, shared)
		}
		for name := range headers {
			if got.Header.Get(name) == "" {
				t.Errorf("%s: no header %s", line, name)
			}
		}
	}
}

// The secret leaves the address at once, and comes back as a cookie that no script reads. The
// address stays on this server whatever the path looks like.
func TestEnter(t *testing.T) {
	g := newTestGuard()
	for path, want := range map[string]string{
		"/?token=$T": "/", "/run/a?token=$T&x=1": "/run/a?x=1", "//evil.example/?token=$T": "/evil.example/",
		"/%2f/evil.example?token=$T": "/evil.example",
	} {
		r := ask(g, "GET "+path)
		cookie := r.Header.Get("Set-Cookie")
		if got := r.Header.Get("Location"); got != want {
			t.Errorf("%s: goes to %s, want %s", path, got, want)
		}
		if !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Lax") {
			t.Errorf("cookie: %s", cookie)
		}
	}
}

// A code for a command line opens once.
func TestOnce(t *testing.T) {
	g := newTestGuard()
	query := g.Once()
	if got := ask(g, "GET /?"+query).StatusCode; got != http.StatusSeeOther {
		t.Errorf("first: %d", got)
	}
	if got := ask(g, "GET /?"+query).StatusCode; got != http.StatusForbidden {
		t.Errorf("second: %d", got)
	}
	if a, b := NewGuard("1", hello), NewGuard("1", hello); a.secret == b.secret || len(a.secret) < 20 {
		t.Errorf("secrets %q and %q", a.secret, b.secret)
	}
}

// The time runs only while nobody asks for anything.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		release := make(chan struct{})
		slow := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release })
		w := newWatch(slow, time.Hour, func() { ended.Store(true) })
		time.Sleep(59 * time.Minute) // of the bubble's clock
		go w.ServeHTTP(nil, nil)
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		if ended.Load() {
			t.Error("it ended under a request")
		}
		close(release)
		time.Sleep(59 * time.Minute)
		if ended.Load() {
			t.Error("it ended early")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if !ended.Load() {
			t.Error("it never ends")
		}
	})
}

// Serve ends with its context, and answers until then.
func TestServe(t *testing.T) {
	l, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	end := make(chan error, 1)
	go func() { end <- Serve(ctx, l, hello, time.Hour) }()
	r, err := http.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if string(text) != "hello" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	r.Body.Close()
	stop()
	if err := <-end; err != nil {
		t.Error(err)
	}
	if _, err := http.Get("http://" + l.Addr().String()); err == nil {
		t.Error("it answers still")
	}
	if err := Serve(t.Context(), l, hello, 0); err == nil || errors.Is(err, http.ErrServerClosed) {
		t.Errorf("a listener that is closed: %v", err)
	}
}
