package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"overlay/internal/inputs"
	"overlay/internal/pipeline"
	"overlay/internal/report"
	"overlay/internal/report/page"
)

// openPage serves the page of a report, with sliders that replay the run, for as long as the program runs.
func (j *job) openPage() error {
	name := j.files[0]
	solved, err := j.load(name, false)
	if err != nil {
		return err
	}
	stacks := solved.Flame()
	desk := solved.Desk(report.Source{Name: inputs.Name(name), Version: version})
	r := solved.Report(report.Source{Name: inputs.Name(name), Version: version, Advise: true, Gains: true, Memory: solved.Memory(nil)})
	desk.Advised(r.Advice)
	var b bytes.Buffer
	if err := page.WriteDesk(&b, r, stacks, page.NewDesk(r, name, desk.Knows)); err != nil {
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
	server := &http.Server{Handler: &deskServer{host: l.Addr().String(), page: b.Bytes(), desk: desk}, ReadHeaderTimeout: 10 * time.Second}
	defer server.Shutdown(context.Background())
	return server.Serve(l)
}

// deskServer serves the page and answers what it asks, to the page and nobody else: another name for this machine may be an attack by DNS, and
// another origin another page.
type deskServer struct {
	host string
	page []byte
	desk *pipeline.Desk
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
		var answers *report.WhatIf
		if err == nil {
			answers, err = s.desk.Ask(string(text))
		}
		if err != nil {
			http.Error(w, report.Plain(err.Error()), http.StatusBadRequest)
			return
		}
		h.Set("Content-Type", "application/json")
		answers.WriteJSON(w)
	case r.URL.Path == "/" || r.URL.Path == "/whatif":
		http.Error(w, "not so", http.StatusMethodNotAllowed)
	default:
		http.NotFound(w, r)
	}
}
