package loopback

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Listen opens a port of the loopback interface; 0 is any that is free.
func Listen(port int) (*net.TCPListener, error) {
	return net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
}

// Timeouts of a server. A trace of gigabytes may take its time to be written.
const (
	readTimeout = 10 * time.Second
	endTimeout  = 2 * time.Second
	mostHeaders = 16 << 10 // bytes
)

// Serve answers on a listener until ctx ends or nobody has asked for anything for so long as idle;
// 0 waits for ever. It returns nil then.
func Serve(ctx context.Context, l net.Listener, h http.Handler, idle time.Duration) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watch := newWatch(h, idle, stop)
	defer watch.end()
	server := &http.Server{Handler: watch, ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: mostHeaders, ErrorLog: log.New(nothing{}, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if server.Shutdown(within) != nil {
			server.Close()
		}
	}()
	err := server.Serve(l)
	stop()
	<-ended
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }

// watch ends a server that nobody asks for anything.
type watch struct {
	next http.Handler
	idle time.Duration

	mu    sync.Mutex
	open  int // requests under way
	timer *time.Timer
}

func newWatch(next http.Handler, idle time.Duration, stop func()) *watch {
	w := &watch{next: next, idle: idle}
	if idle > 0 {
		w.timer = time.AfterFunc(idle, stop)
	}
	return w
}

func (w *watch) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.count(1)
	defer w.count(-1)
	w.next.ServeHTTP(out, r)
}

// count notes that a request begins or ends. Only between the last one and the next one does the
// time run.
func (w *watch) count(n int) {
	if w.timer == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open += n
	if w.open > 0 {
		w.timer.Stop()
	} else {
		w.timer.Reset(w.idle)
	}
}

func (w *watch) end() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
