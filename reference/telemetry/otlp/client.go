package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
)

// client sends one signal.
type client struct {
	signal  string // traces or metrics
	url     string
	header  http.Header
	gzip    bool
	timeout time.Duration // of an export with its retries; 0 is none
	http    *http.Client
	wait    func(context.Context, time.Duration) error
	closed  atomic.Bool
}

// Waits between attempts: the first, and the longest. Each is twice the one before, and
// half of it is left to chance, so that many programs do not come back together.
const (
	firstWait   = time.Second
	longestWait = 30 * time.Second
)

// mostAnswer bounds how much of an answer is read, in bytes.
const mostAnswer = 1 << 20

var errClosed = errors.New("the exporter is shut down")

// close ends sending.
func (c *client) close() error {
	if c.closed.Swap(true) {
		return errClosed
	}
	c.http.CloseIdleConnections()
	return nil
}

// send sends a request, again while the collector says that it may be repeated.
func (c *client) send(ctx context.Context, m message) error {
	if c.closed.Load() {
		return errClosed
	}
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	body, err := c.packed(m)
	if err != nil {
		return err
	}
	for pause := firstWait; ; pause = min(2*pause, longestWait) {
		again, after, err := c.try(ctx, body)
		if err == nil || !again {
			return err
		}
		if after == 0 {
			after = pause/2 + rand.N(pause/2)
		}
		if c.wait(ctx, after) != nil {
			return err
		}
	}
}

// wait waits; it fails at once if the time that is left does not suffice.
func wait(ctx context.Context, d time.Duration) error {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return context.DeadlineExceeded
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// packed is the body of a request.
func (c *client) packed(m message) ([]byte, error) {
	if !c.gzip {
		return m, nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(m); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

// try makes one attempt. again says whether another may succeed, after how long the
// collector wants to be asked; 0 if it does not say.
func (c *client) try(ctx context.Context, body []byte) (again bool, after time.Duration, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	q.Header = c.header.Clone()
	if c.gzip {
		q.Header.Set("Content-Encoding", "gzip")
	}
	r, err := c.http.Do(q)
	if err != nil {
		var failed *url.Error
		return errors.As(err, &failed) && failed.Temporary() && ctx.Err() == nil, 0,
			fmt.Errorf("%s were not sent: %w", c.signal, err)
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(r.Body, mostAnswer))
	if r.StatusCode/100 == 2 {
		if err == nil {
			c.partial(r.Header.Get("Content-Type"), answer)
		}
		return false, 0, nil
	}
	err = fmt.Errorf("%s were not taken by %s: %s%s", c.signal, q.URL.Redacted(), r.Status, reason(r.Header, answer))
	return repeatable(r.StatusCode), retryAfter(r.Header.Get("Retry-After")), err
}

// repeatable reports whether the specification lets a request be repeated after a status.
func repeatable(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retryAfter reads a Retry-After header: seconds, or a date.
func retryAfter(text string) time.Duration {
	if n, err := strconv.ParseInt(text, 10, 32); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// reason is what a collector says of a refusal, in one line: the message of a
// google.rpc.Status, or plain text.
func reason(h http.Header, answer []byte) string {
	text := string(answer)
	if kind, _, _ := strings.Cut(h.Get("Content-Type"), ";"); kind == "application/x-protobuf" {
		_, text, _ = twoFields(answer, 2)
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	if text == "" {
		return ""
	}
	return ": " + text
}

// partial tells what a collector took only in part.
func (c *client) partial(kind string, answer []byte) {
	if kind, _, _ = strings.Cut(kind, ";"); kind != "application/x-protobuf" {
		return
	}
	_, inner, ok := twoFields(answer, 1)
	if !ok {
		return
	}
	if n, text, ok := twoFields([]byte(inner), 2); ok && (n != 0 || text != "") {
		otel.Handle(fmt.Errorf("the collector did not take %d of the %s: %s", n, c.signal, text))
	}
}

// twoFields reads a message of a number and a text, the latter in the field given.
func twoFields(b []byte, field uint64) (n uint64, text string, ok bool) {
	for len(b) > 0 {
		tag, size := binary.Uvarint(b)
		if size <= 0 {
			return 0, "", false
		}
		v, more := binary.Uvarint(b[size:])
		if more <= 0 {
			return 0, "", false
		}
		b = b[size+more:]
		switch tag & 7 {
		case varintType:
			n = v
		case bytesType:
			if v > uint64(len(b)) {
				return 0, "", false
			}
			if tag>>3 == field {
				text = string(b[:v])
			}
			b = b[v:]
		default:
			return 0, "", false
		}
	}
	return n, text, true
}
