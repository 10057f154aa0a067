package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	// viewerAddress is the one loopback port that the viewer's content security policy lets it fetch from.
	viewerAddress = "127.0.0.1:9001"
	viewerOrigin  = "https://ui.perfetto.dev"
	// viewerPatience is how long nobody may fetch the file.
	viewerPatience = 2 * time.Minute
	// lastWords is how long connections may take to end after the transfer.
	lastWords = 200 * time.Millisecond
)

// transfer is a server that hands one file to the viewer, once.
type transfer struct {
	path string // of the URL, with the leading slash
	host string // the only Host that is served: another name for this machine may be an attack by DNS
	file *os.File
	size int64

	busy sync.Mutex    // held while it is handed out; one that broke off may be tried again
	done sync.Once     // of a whole transfer
	end  chan struct{} // closed then
}

// listen takes the viewer's port.
func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp4", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		_, port, _ := net.SplitHostPort(address)
		return nil, fmt.Errorf("port %s of this machine is taken, by another 'overlay open' or a trace_processor: end it, then try again", port)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return l, nil
}

// serve runs until the file was fetched, patience ran out, or ctx ends.
func (t *transfer) serve(ctx context.Context, l net.Listener, patience time.Duration) error {
	server := &http.Server{Handler: t, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	defer server.Close()

	idle := time.NewTimer(patience)
	defer idle.Stop()
	for {
		select {
		case <-t.end:
			// The file is with the kernel. The answer's connection may end in peace; one that a browser keeps spare
			// would never end, and is no reason to wait or to complain.
			last, cancel := context.WithTimeout(ctx, lastWords)
			defer cancel()
			server.Shutdown(last)
			return nil
		case <-idle.C:
			if !t.busy.TryLock() {
				idle.Reset(time.Second) // a transfer under way may finish
				continue
			}
			return fmt.Errorf("nobody fetched the file within %v: run the command again and open the link, or drop the file on %s", patience, viewerOrigin)
		case <-ctx.Done():
			return ctx.Err()
		case err := <-failed:
			return err
		}
	}
}

// ServeHTTP answers the viewer, and nobody else.
func (t *transfer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	switch {
	case r.Host != t.host:
		http.Error(w, "wrong host", http.StatusForbidden)
	case r.URL.Path != t.path || r.URL.RawQuery != "":
		http.NotFound(w, r) // the viewer looks for a trace_processor here too (/status)
	case r.Header.Get("Origin") != viewerOrigin:
		http.Error(w, "wrong origin", http.StatusForbidden)
	default:
		h.Set("Access-Control-Allow-Origin", viewerOrigin)
		h.Set("Vary", "Origin")
		t.answer(w, r)
	}
}

func (t *transfer) answer(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodOptions: // a public page that asks for a local address is announced by the browser
		w.Header().Set("Access-Control-Allow-Methods", "GET")
		w.Header().Set("Access-Control-Allow-Headers", "*")
		w.Header().Set("Access-Control-Allow-Private-Network", "true")
		w.WriteHeader(http.StatusNoContent)
	case http.MethodGet:
		if !t.busy.TryLock() {
			http.Error(w, "the file was fetched already", http.StatusGone)
			return
		}
		defer t.busy.Unlock()
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", strconv.FormatInt(t.size, 10))
		n, err := io.Copy(w, io.NewSectionReader(t.file, 0, t.size))
		if err == nil {
			err = http.NewResponseController(w).Flush() // the end of the file leaves before the server does
		}
		if err == nil && n == t.size {
			t.done.Do(func() { close(t.end) })
		}
	default:
		w.Header().Set("Allow", "GET, OPTIONS")
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
	}
}
