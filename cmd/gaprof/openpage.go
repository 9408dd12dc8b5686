package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/gaprof/gaprof/internal/loopback"
	"github.com/gaprof/gaprof/internal/web"
)

// pageFlags are the flags of commands that serve pages on this machine.
type pageFlags struct {
	port      int
	browser   bool
	noBrowser bool
	idle      time.Duration
	viewer    string
}

// perfettoPort is the one port of this machine from which the policy of ui.perfetto.dev lets it fetch.
const perfettoPort = 9001

func (f *pageFlags) add(flags *pflag.FlagSet, idle time.Duration) {
	flags.IntVar(&f.port, "port", 0, "port on 127.0.0.1 (default: any that is free)")
	flags.BoolVar(&f.browser, "browser", true, "start the browser, on a terminal with a display")
	flags.BoolVar(&f.noBrowser, "no-browser", false, "print the address only")
	flags.DurationVar(&f.idle, "idle", idle, "end when nobody asked for anything for so long; 0: never")
	flags.StringVar(&f.viewer, "perfetto", "https://ui.perfetto.dev", "origin of the Perfetto UI")
}

// check rejects invalid flag values.
func (f *pageFlags) check() error {
	u, err := url.Parse(f.viewer)
	switch {
	case f.port < 0 || f.port > 65535:
		return usage("leave it out for one that is free", "--port %d is not a port", f.port)
	case f.idle < 0:
		return usage("0 never ends", "--idle %s is negative", f.idle)
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || f.viewer != u.Scheme+"://"+u.Host:
		return usage("write https://ui.perfetto.dev", "--perfetto %s is not the origin of a site", f.viewer)
	}
	return nil
}

// serve serves until Ctrl-C, or until nobody asks any more.
func (f *pageFlags) serve(ctx context.Context, s streams, what string, options web.Options) error {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := loopback.Listen(f.port)
	if err != nil {
		return &codeError{exitUsage, err, "leave out --port for one that is free"}
	}
	port := l.Addr().(*net.TCPAddr).Port
	base := "http://127.0.0.1:" + strconv.Itoa(port)
	guard := loopback.NewGuard(strconv.Itoa(port), nil)
	options.Viewer = f.viewer
	if port == perfettoPort {
		guard.Shared = f.viewer
		guard.Share = web.IsTrace
		options.Direct = base + "%s?" + guard.Query()
	}
	guard.Next = web.New(ctx, options)
	fmt.Fprintf(s.out, "%s/?%s\n", base, guard.Query())
	s.say("serves %s; Ctrl-C ends it", what)
	if f.browser && !f.noBrowser && isTerminal(s.err) {
		startBrowser(base + "/?" + guard.Once())
	}
	return loopback.Serve(ctx, l, guard, f.idle)
}

// startBrowser shows an address where there is a display. That there is no browser is no error: the
// address was printed.
func startBrowser(address string) {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	case "darwin":
		if os.Getenv("SSH_CONNECTION") != "" {
			return
		}
		cmd = exec.Command("open", address)
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
		cmd = exec.Command("xdg-open", address)
	}
	if cmd.Start() == nil {
		go cmd.Wait()
	}
}
