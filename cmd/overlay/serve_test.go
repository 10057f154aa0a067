package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startTransfer serves content on a free port and returns the address of the file and the end of the server.
func startTransfer(t *testing.T, content string, patience time.Duration) (url string, ended chan error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.pftrace")
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	l, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tr := &transfer{path: "/a.pftrace", host: l.Addr().String(), file: f, size: int64(len(content)), end: make(chan struct{})}
	ended = make(chan error, 1)
	go func() { ended <- tr.serve(context.Background(), l, patience) }()
	return "http://" + l.Addr().String() + "/a.pftrace", ended
}

// ask sends one request; origin "" leaves the header out, host "" keeps the right one.
func ask(t *testing.T, method, url, origin, host string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	r.Host = host
	resp, err := http.DefaultTransport.RoundTrip(r) // no redirects, no cookies
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestServeRefusals(t *testing.T) {
	url, ended := startTransfer(t, "trace bytes", time.Minute)
	base := strings.TrimSuffix(url, "/a.pftrace")
	for _, c := range []struct {
		method, url, origin, host string
		status                    int
	}{
		{"GET", base + "/status", viewerOrigin, "", 404},
		{"GET", base + "/", viewerOrigin, "", 404},
		{"GET", base + "/../a.pftrace", viewerOrigin, "", 404},
		{"GET", url + "/", viewerOrigin, "", 404},
		{"GET", url + "?x=1", viewerOrigin, "", 404},
		{"GET", url, "", "", 403},
		{"GET", url, "null", "", 403},
		{"GET", url, "https://evil.example", "", 403},
		{"GET", url, "http://ui.perfetto.dev", "", 403},
		{"GET", url, "https://ui.perfetto.dev.evil.example", "", 403},
		{"GET", url, viewerOrigin, "evil.example", 403},
		{"GET", url, viewerOrigin, "localhost:9001", 403},
		{"OPTIONS", url, "https://evil.example", "", 403},
		{"POST", url, viewerOrigin, "", 405},
		{"HEAD", url, viewerOrigin, "", 405},
	} {
		resp, body := ask(t, c.method, c.url, c.origin, c.host)
		if resp.StatusCode != c.status {
			t.Errorf("%s %s origin %q host %q: status %d, want %d", c.method, c.url, c.origin, c.host, resp.StatusCode, c.status)
		}
		if strings.Contains(body, "trace bytes") {
			t.Errorf("%s %s origin %q host %q: the trace went out", c.method, c.url, c.origin, c.host)
		}
		if allow := resp.Header.Get("Access-Control-Allow-Origin"); c.status != 405 && allow != "" {
			t.Errorf("%s %s origin %q: allowed origin %q", c.method, c.url, c.origin, allow)
		}
	}

	resp, _ := ask(t, "OPTIONS", url, viewerOrigin, "")
	if resp.StatusCode != 204 || resp.Header.Get("Access-Control-Allow-Private-Network") != "true" ||
		resp.Header.Get("Access-Control-Allow-Origin") != viewerOrigin {
		t.Errorf("OPTIONS: %d %v", resp.StatusCode, resp.Header)
	}

	resp, body := ask(t, "GET", url, viewerOrigin, "")
	if resp.StatusCode != 200 || body != "trace bytes" || resp.Header.Get("Access-Control-Allow-Origin") != viewerOrigin ||
		resp.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("GET: %d %q %v", resp.StatusCode, body, resp.Header)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the server goes on after the transfer")
	}
}

// TestServeOnce asks for the file while the first transfer is under way: the file is large and nobody reads it yet.
func TestServeOnce(t *testing.T) {
	url, ended := startTransfer(t, strings.Repeat("x", 64<<20), time.Minute)
	first, err := net.Dial("tcp", strings.Split(url, "/")[2])
	if err != nil {
		t.Fatal(err)
	}
	request := "GET /a.pftrace HTTP/1.1\r\nHost: " + strings.Split(url, "/")[2] + "\r\nOrigin: " + viewerOrigin + "\r\n\r\n"
	if _, err := io.WriteString(first, request); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Read(make([]byte, 1)); err != nil { // the answer has begun
		t.Fatal(err)
	}
	if resp, _ := ask(t, "GET", url, viewerOrigin, ""); resp.StatusCode != 410 {
		t.Errorf("second transfer: status %d, want 410", resp.StatusCode)
	}
	first.Close() // breaks off: now it may be tried again
	deadline := time.Now().Add(10 * time.Second)
	for {
		resp, body := ask(t, "GET", url, viewerOrigin, "")
		if resp.StatusCode == 200 {
			if len(body) != 64<<20 {
				t.Errorf("%d bytes", len(body))
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no second try after a broken transfer")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestServeSpareConnection: browsers open connections that they never use; the end of the transfer is the end.
func TestServeSpareConnection(t *testing.T) {
	url, ended := startTransfer(t, "trace bytes", time.Minute)
	address := strings.Split(url, "/")[2]
	for _, begin := range []string{"", "GET /a.pf"} {
		spare, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer spare.Close()
		io.WriteString(spare, begin)
	}
	if _, body := ask(t, "GET", url, viewerOrigin, ""); body != "trace bytes" {
		t.Errorf("body %q", body)
	}
	began := time.Now()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the server went on for %v", took)
	}
}

func TestServePatience(t *testing.T) {
	_, ended := startTransfer(t, "x", 50*time.Millisecond)
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "nobody fetched the file within 50ms") {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the server waits for ever")
	}
}

func TestPortTaken(t *testing.T) {
	l, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = listen(l.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "is taken") {
		t.Errorf("got %v", err)
	}
}

func TestViewerLink(t *testing.T) {
	got := viewerLink("a.pftrace", view{start: 100, end: 200, rows: []string{"python 42 (rank 0)", "GPU 0"}})
	want := `https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001/a.pftrace&visStart=100&visEnd=200&startupCommands=` +
		`%5B%7B%22id%22%3A%22dev.perfetto.PinTracksByRegex%22%2C%22args%22%3A%5B%22%5E%28Critical%20path%7CPath%20segments%29%24%22%5D%7D%2C` +
		`%7B%22id%22%3A%22dev.perfetto.ExpandTracksByRegex%22%2C%22args%22%3A%5B%22%5E%28python%2042%20%5C%5C%28rank%200%5C%5C%29%7CGPU%200%29.%2A%24%22%5D%7D%5D`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	link, err := url.Parse(viewerLink("a.pftrace", view{start: 1, end: 2, path: true}))
	if err != nil {
		t.Fatal(err)
	}
	_, query, _ := strings.Cut(link.Fragment, "startupCommands=")
	var list []command
	if err := json.Unmarshal([]byte(query), &list); err != nil || len(list) != 2 || list[1].ID != "dev.perfetto.RunQueryAndShowTab" || list[1].Args[0] != pathQuery {
		t.Errorf("%v: %+v", err, list)
	}
	if got := servedName("/tmp/a b&c#%20.ä.pftrace.gz"); got != "a_b_c__20._.pftrace.gz" {
		t.Error(got)
	}
}
