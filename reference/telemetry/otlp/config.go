package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// prefix begins the names of the variables of exporters.
const prefix = "OTEL_EXPORTER_OTLP_"

// patience is how long one export may take where the environment does not say.
const patience = 10 * time.Second

// newClient reads what the environment asks for one signal, TRACES or METRICS.
func newClient(signal, userAgent string) (*client, error) {
	c := &client{signal: strings.ToLower(signal), wait: wait}
	var errs [5]error
	c.url, errs[0] = endpoint(signal)
	c.header, errs[1] = headers(signal)
	c.gzip, errs[2] = compression(signal)
	c.timeout, errs[3] = timeout(signal)
	var security *tls.Config
	security, errs[4] = certificates(signal)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	c.header.Set("Content-Type", "application/x-protobuf")
	if c.header.Get("User-Agent") == "" {
		c.header.Set("User-Agent", userAgent)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = security
	c.http = &http.Client{Transport: transport}
	return c, nil
}

// lookup is the value of a variable for one signal, or for all; name is the one that holds.
func lookup(signal, what string) (name, value string) {
	name = prefix + signal + "_" + what
	if value = strings.TrimSpace(os.Getenv(name)); value == "" {
		name = prefix + what
		value = strings.TrimSpace(os.Getenv(name))
	}
	return name, value
}

// endpoint is where a signal goes: the address of its own as it is, or that of all
// signals with the path of this one.
func endpoint(signal string) (string, error) {
	name, text := lookup(signal, "ENDPOINT")
	own := strings.HasPrefix(name, prefix+signal)
	if text == "" {
		text, own = "http://localhost:4318", false
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", name, err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("%s=%s: an address begins with http:// or https://", name, text)
	case !own:
		u = u.JoinPath("v1", strings.ToLower(signal))
	case u.Path == "":
		u.Path = "/"
	}
	return u.String(), nil
}

// headers are pairs like key=value, with values in percent-encoding, separated by commas.
func headers(signal string) (http.Header, error) {
	h := make(http.Header)
	name, text := lookup(signal, "HEADERS")
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil {
			return nil, fmt.Errorf("%s: a header is written key=value", name) // what it holds may be secret
		}
		h.Set(key, value)
	}
	return h, nil
}

func compression(signal string) (bool, error) {
	name, text := lookup(signal, "COMPRESSION")
	switch text {
	case "gzip":
		return true, nil
	case "", "none":
		return false, nil
	}
	return false, fmt.Errorf("%s=%s: there are gzip and none", name, text)
}

// timeout is how long an export may take, with its retries. Variables give ms.
func timeout(signal string) (time.Duration, error) {
	name, text := lookup(signal, "TIMEOUT")
	if text == "" {
		return patience, nil
	}
	ms, err := strconv.ParseInt(text, 10, 32)
	if err != nil || ms < 0 {
		return 0, fmt.Errorf("%s=%s: a number of milliseconds is needed", name, text)
	}
	if ms == 0 { // no limit, says the specification
		return 0, nil
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// certificates holds the certificates that variables name; nil for those of the system.
func certificates(signal string) (*tls.Config, error) {
	authority, certificate := fileOf(signal, "CERTIFICATE"), fileOf(signal, "CLIENT_CERTIFICATE")
	key := fileOf(signal, "CLIENT_KEY")
	if authority == "" && certificate == "" && key == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if authority != "" {
		text, err := os.ReadFile(authority)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s holds no certificate in PEM form", authority)
		}
	}
	if certificate != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

func fileOf(signal, what string) string {
	_, file := lookup(signal, what)
	return file
}
