package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"overlay/internal/inputs"
	"overlay/internal/report"
	pages "overlay/internal/report/page"
)

// openPage serves the page of a report, with sliders that replay the run, for as long as the program runs.
func (j *job) openPage() error {
	name := j.files[0]
	s, err := j.read([]string{name}, j.pipeline(), false)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	ask, err := s.desk(&b, name)
	if err != nil {
		return err
	}
	l, err := listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	link := "http://" + l.Addr().String() + "/"
	if j.opts.noBrowser || startBrowser(link) != nil {
		fmt.Fprintln(j.stdout, link)
	}
	j.opts.say(j.stderr, "%s is the page of %s until you press Ctrl-C", link, name)
	j.stages.finish()
	server := &http.Server{Handler: &deskServer{host: l.Addr().String(), page: b.Bytes(), ask: ask}, ReadHeaderTimeout: 10 * time.Second}
	defer server.Shutdown(context.Background())
	return server.Serve(l)
}

// desk writes the page of a trace or a job, and returns what answers it: that writes the answer to a scenario, as JSON.
func (s *subject) desk(page io.Writer, name string) (ask func(text string, to io.Writer) error, err error) {
	if s.job != nil {
		r := report.NewJob(s.job.source)
		desk, err := pages.NewJobDesk(r, s.job.source, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", report.Plain(name), err)
		}
		return desk.Ask, pages.WriteJobDesk(page, r, s.job.source, desk)
	}
	stacks := s.run.Flame()
	desk := s.run.Desk()
	r := s.run.Report(report.Source{Name: inputs.Name(name), Version: version, Advise: true, Gains: true, Memory: s.run.Memory(nil)})
	desk.Advised(r.Advice)
	return desk.Write, pages.WriteDesk(page, r, stacks, pages.NewDesk(r, name, desk.Knows))
}

// deskServer serves the page and answers what it asks, to the page and nobody else: another name for this machine may be an attack by DNS, and
// another origin another page.
type deskServer struct {
	host string
	page []byte
	ask  func(text string, to io.Writer) error
}

// maxQuestion is how long a scenario may be.
const maxQuestion = 1 << 16

func (s *deskServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	origin := r.Header.Get("Origin")
	switch {
	case r.Host != s.host:
		http.Error(w, "wrong host", http.StatusForbidden)
	case origin != "" && origin != "http://"+s.host:
		http.Error(w, "wrong origin", http.StatusForbidden)
	case r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		h.Set("Content-Type", "text/html; charset=utf-8")
		w.Write(s.page)
	case r.URL.Path == "/whatif" && r.Method == http.MethodPost && origin != "":
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxQuestion))
		var answer bytes.Buffer
		if err == nil {
			err = s.ask(string(text), &answer)
		}
		if err != nil {
			http.Error(w, report.Plain(err.Error()), http.StatusBadRequest)
			return
		}
		h.Set("Content-Type", "application/json")
		w.Write(answer.Bytes())
	case r.URL.Path == "/" || r.URL.Path == "/whatif":
		http.Error(w, "not so", http.StatusMethodNotAllowed)
	default:
		http.NotFound(w, r)
	}
}
