package hip

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// Remote is a cache server that speaks Bazel's HTTP cache protocol: GET and PUT of
// /ac/KEY, which names an object by digest, and /cas/DIGEST, which holds it.
//
// Nothing a server does makes a build wrong or hang: digests and the key are
// checked on every read, every request has a deadline, and a server that keeps
// failing is left alone for the rest of the Remote's life. A Remote is safe for
// concurrent use.
type Remote struct {
	base   string
	auth   string
	opts   RemoteOptions
	client *http.Client

	mu    sync.Mutex
	stats RemoteStats
	fails int // in a row
	slow  int // deadlines missed, ever
}

// RemoteOptions configure a Remote. The zero value reads and does not write, with
// credentials from the user's netrc file.
type RemoteOptions struct {
	Write   bool          // store what was compiled here
	Timeout time.Duration // for one request, body included; 0 means 10 s
	Netrc   string        // file with credentials; empty means NETRC, then ~/.netrc
	Getenv  func(string) string
	// Transport replaces the HTTP transport; nil means one with short connection
	// time-outs that honours the proxy variables.
	Transport http.RoundTripper
}

// RemoteStats counts what a Remote did.
type RemoteStats struct {
	Hits, Misses, Stored int
	Failures             int    // requests that did not work
	Rejected             int    // answers that were wrong
	Disabled             string // why the server is no longer asked; empty while it is
	ReadOnly             string // why nothing is stored any more; empty while things are
}

const (
	remoteTimeout  = 10 * time.Second
	connectTimeout = 3 * time.Second
	maxFails       = 3 // in a row
	maxSlow        = 2 // ever: waiting for a slow server costs more than compiling
	maxRejected    = 3
)

// OpenRemote checks the URL and reads the credentials. It does not contact the
// server.
func OpenRemote(rawURL string, opts RemoteOptions) (*Remote, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("remote cache: %w", err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("remote cache %q: want http://HOST[:PORT][/PATH] or https://…", rawURL)
	case u.User != nil:
		return nil, fmt.Errorf("remote cache at %s: credentials in the URL end up in logs: put them into a netrc file (machine %s login … password …)", u.Host, u.Hostname())
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("remote cache %q: the URL has a query or fragment, and paths are appended to it", rawURL)
	}
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	if opts.Timeout <= 0 {
		opts.Timeout = remoteTimeout
	}
	auth, err := lookupNetrc(opts.Netrc, u.Hostname(), opts.Getenv)
	if err != nil {
		return nil, fmt.Errorf("remote cache: %w", err)
	}
	if opts.Transport == nil {
		opts.Transport = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: connectTimeout}).DialContext,
			TLSHandshakeTimeout:   connectTimeout,
			ResponseHeaderTimeout: opts.Timeout,
			MaxIdleConnsPerHost:   16,
			IdleConnTimeout:       30 * time.Second,
			DisableCompression:    true,
		}
	}
	r := &Remote{base: strings.TrimRight(u.String(), "/"), auth: auth, opts: opts}
	r.client = &http.Client{Transport: opts.Transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) >= 5 {
			return errors.New("more than 5 redirects")
		}
		if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
			return errors.New("redirect from https to http refused")
		}
		return nil
	}}
	return r, nil
}

// Stats returns the counts so far.
func (r *Remote) Stats() RemoteStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

// Get returns the entry of k. A server that does not have it, does not work or
// answers wrongly is a miss; in the latter two cases the error says what happened
// and is a warning. Once the server is disabled every Get is a silent miss.
func (r *Remote) Get(ctx context.Context, k Key) (Entry, bool, error) {
	if r.disabled() {
		return Entry{}, false, nil
	}
	body, ok, err := r.get(ctx, "/ac/"+k.String(), maxLog+4096)
	if !ok {
		return Entry{}, false, err
	}
	a, err := decodeAction(body)
	switch {
	case err != nil:
		return Entry{}, false, r.reject(fmt.Errorf("remote cache: /ac/%s: %w", k, err))
	case a.path != actionPath(k):
		return Entry{}, false, r.reject(fmt.Errorf("remote cache: /ac/%s answers with the result of another action, %q", k, a.path))
	}
	if sum, err := hex.DecodeString(a.hash); err != nil || len(sum) != sha256.Size {
		return Entry{}, false, r.reject(fmt.Errorf("remote cache: /ac/%s names an object by %q, which is not a digest", k, a.hash))
	}
	object, ok, err := r.get(ctx, "/cas/"+a.hash, a.size)
	if !ok {
		return Entry{}, false, err
	}
	if int64(len(object)) != a.size {
		return Entry{}, false, r.reject(fmt.Errorf("remote cache: /cas/%s has %d bytes, want %d", a.hash, len(object), a.size))
	}
	if sum := sha256.Sum256(object); hex.EncodeToString(sum[:]) != a.hash {
		return Entry{}, false, r.reject(fmt.Errorf("remote cache: /cas/%s holds bytes of another digest, %x", a.hash, sum))
	}
	r.mu.Lock()
	r.stats.Hits++
	r.mu.Unlock()
	return Entry{Object: object, Log: a.log}, true, nil
}

// Put stores the entry of k: the object first, so that what /ac names is there.
// It does nothing on a Remote that does not write, or no longer does.
func (r *Remote) Put(ctx context.Context, k Key, e Entry) error {
	r.mu.Lock()
	skip := !r.opts.Write || r.stats.Disabled != "" || r.stats.ReadOnly != ""
	r.mu.Unlock()
	if skip {
		return nil
	}
	sum := sha256.Sum256(e.Object)
	hash := hex.EncodeToString(sum[:])
	if err := r.put(ctx, "/cas/"+hash, e.Object); err != nil {
		return err
	}
	a := actionResult{path: actionPath(k), hash: hash, size: int64(len(e.Object)), log: e.Log}
	if err := r.put(ctx, "/ac/"+k.String(), a.encode()); err != nil {
		return err
	}
	r.mu.Lock()
	r.stats.Stored++
	r.mu.Unlock()
	return nil
}

func (r *Remote) disabled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats.Disabled != ""
}

// get fetches a path; ok is false for a miss, with an error when it is more.
func (r *Remote) get(ctx context.Context, path string, limit int64) (body []byte, ok bool, err error) {
	resp, done, err := r.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, false, err
	}
	defer done()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		r.mu.Lock()
		r.stats.Misses++
		r.fails = 0
		r.mu.Unlock()
		return nil, false, nil
	case resp.StatusCode != http.StatusOK:
		return nil, false, r.failed(ctx, path, statusError(resp))
	case resp.ContentLength > limit:
		return nil, false, r.reject(fmt.Errorf("remote cache: %s announces %d bytes, more than the %d expected", path, resp.ContentLength, limit))
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, false, r.failed(ctx, path, err)
	}
	if int64(len(body)) > limit {
		return nil, false, r.reject(fmt.Errorf("remote cache: %s goes on past the %d bytes expected", path, limit))
	}
	r.mu.Lock()
	r.fails = 0
	r.mu.Unlock()
	return body, true, nil
}

func (r *Remote) put(ctx context.Context, path string, data []byte) error {
	resp, done, err := r.do(ctx, http.MethodPut, path, data)
	if err != nil {
		return err
	}
	defer done()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // lets the connection be used again
	switch {
	case resp.StatusCode/100 == 2:
		r.mu.Lock()
		r.fails = 0
		r.mu.Unlock()
		return nil
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden, resp.StatusCode == http.StatusMethodNotAllowed:
		err := fmt.Errorf("remote cache at %s does not take objects from here (%w); reading only", r.base, statusError(resp))
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.stats.ReadOnly != "" {
			return nil // said already
		}
		r.stats.ReadOnly = err.Error()
		return err
	default:
		return r.failed(ctx, path, statusError(resp))
	}
}

func statusError(resp *http.Response) error {
	err := fmt.Errorf("status %s", resp.Status)
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		err = fmt.Errorf("%w; credentials for %s are taken from the netrc file", err, resp.Request.URL.Hostname())
	}
	return err
}

// do sends a request under the deadline, which covers the body too: done ends both.
func (r *Remote) do(ctx context.Context, method, path string, data []byte) (resp *http.Response, done func(), err error) {
	rctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	var body io.Reader
	if data != nil {
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(rctx, method, r.base+path, body)
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("remote cache: %w", err)
	}
	if r.auth != "" {
		req.Header.Set("Authorization", r.auth)
	}
	if data != nil {
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	resp, err = r.client.Do(req)
	if err != nil {
		cancel()
		return nil, nil, r.failed(ctx, path, err)
	}
	return resp, func() { resp.Body.Close(); cancel() }, nil
}

// failed counts a request that did not work and gives up on the server when that
// happens too often. A request that the caller cancelled says nothing about it.
func (r *Remote) failed(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err = fmt.Errorf("remote cache: %s: %w", path, err)
	var timeout net.Error
	late := errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &timeout) && timeout.Timeout())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Failures++
	r.fails++
	if late {
		r.slow++
	}
	switch {
	case r.stats.Disabled != "":
	case r.slow >= maxSlow:
		r.stats.Disabled = fmt.Sprintf("%d requests took longer than %s", r.slow, r.opts.Timeout)
	case r.fails >= maxFails:
		r.stats.Disabled = fmt.Sprintf("%d requests in a row failed, the last with: %v", r.fails, err)
	}
	return err
}

// reject counts an answer that was wrong and passes the reason on.
func (r *Remote) reject(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Rejected++
	if r.stats.Rejected >= maxRejected && r.stats.Disabled == "" {
		r.stats.Disabled = fmt.Sprintf("%d wrong answers, the last: %v", r.stats.Rejected, err)
	}
	return err
}
