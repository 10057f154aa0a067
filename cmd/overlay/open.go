package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/urfave/cli/v2"

	"overlay/internal/analyses"
	"overlay/internal/frompftrace"
	"overlay/internal/inputs"
	"overlay/internal/kineto"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/report"
)

// openInViewer serves one file to ui.perfetto.dev.
func (j *job) openInViewer() error {
	if j.opts.page {
		return j.openPage()
	}
	name, err := inputs.OnlyTrace(j.files[0])
	if err != nil {
		return err
	}
	f, err := inputs.Disk.Open(name)
	if err != nil {
		return inputs.Error(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return inputs.Error(name, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file: write the trace to a file first", name)
	case info.Size() == 0:
		return fmt.Errorf("%s is empty: was the program that wrote it interrupted?", name)
	}
	l, err := listen(viewerAddress)
	if err != nil {
		return err
	}
	defer l.Close()

	served := servedName(name)
	link := viewerLink(served, readView(f, info.Size()))
	if j.opts.noBrowser || startBrowser(link) != nil {
		fmt.Fprintf(j.stdout, "%s\n", link)
		j.opts.say(j.stderr, "open this link within %v", viewerPatience)
	} else {
		j.opts.say(j.stderr, "opening %s in the browser; if nothing happens, open %s", name, link)
	}
	t := &transfer{path: "/" + served, host: viewerAddress, file: f, size: info.Size(), end: make(chan struct{})}
	if err := t.serve(context.Background(), l, viewerPatience); err != nil {
		return err
	}
	j.opts.say(j.stderr, "the viewer has %s", name)
	return nil
}

// say prints a message, but not with --quiet.
func (o *options) say(stderr io.Writer, format string, args ...any) {
	if !o.quiet {
		fmt.Fprintln(stderr, "overlay: "+report.Plain(fmt.Sprintf(format, args...)))
	}
}

// servedName is the name of a file in the link, without what would have to be escaped twice there.
func servedName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, filepath.Base(name))
}

// command is one of the commands with which the viewer starts.
type command struct {
	ID   string   `json:"id"`
	Args []string `json:"args"`
}

// Commands that the viewer promises to keep.
const (
	pinTracks    = "dev.perfetto.PinTracksByRegex"
	expandTracks = "dev.perfetto.ExpandTracksByRegex"
	showQuery    = "dev.perfetto.RunQueryAndShowTab"
)

// pathRows matches the rows of the path.
const pathRows = "^(Critical path|Path segments)$"

// pathQuery is what the path is made of, by what happens on it. It needs none of the views of overlay.sql.
const pathQuery = `-- critical path: what it is made of
SELECT name, count(*) AS segments, round(sum(dur) / 1e6, 3) AS ms, round(100.0 * sum(dur) / (SELECT sum(dur) FROM slice WHERE category = 'critical_path'), 1) AS percent FROM slice WHERE category = 'critical_path' GROUP BY name ORDER BY sum(dur) DESC`

// view is what the viewer should show first.
type view struct {
	start, end int64    // ns, the analysed window; equal when unknown
	rows       []string // names of the processes that the path runs through
	path       bool     // overlay has drawn a path, which a query can ask about
}

// viewerLink is the address that makes the viewer fetch the file, zoom to the window, pin the path, expand the processes that
// it runs through, and open a tab that says what it is made of.
func viewerLink(name string, v view) string {
	link := viewerOrigin + "/#!/?url=http://" + viewerAddress + "/" + name
	if v.start < v.end {
		link += "&visStart=" + strconv.FormatInt(v.start, 10) + "&visEnd=" + strconv.FormatInt(v.end, 10)
	}
	list := []command{{pinTracks, []string{pathRows}}}
	if len(v.rows) > 0 {
		quoted := make([]string, len(v.rows))
		for i, row := range v.rows {
			quoted[i] = regexp.QuoteMeta(row)
		}
		list = append(list, command{expandTracks, []string{"^(" + strings.Join(quoted, "|") + ").*$"}})
	}
	if v.path {
		list = append(list, command{showQuery, []string{pathQuery}})
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic("overlay: internal error: startup commands: " + err.Error())
	}
	// A blank must be %20: the viewer does not read + as one.
	return link + "&startupCommands=" + strings.ReplaceAll(url.QueryEscape(string(text)), "+", "%20")
}

// startBrowser asks the desktop to open a link and does not wait for it.
func startBrowser(link string) error {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", link)
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", link)
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return fmt.Errorf("no display") // xdg-open would start a text browser, or say it did something
		}
		cmd = exec.Command("xdg-open", link)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait()
	return nil
}

// viewLimit is how much of a trace is read for the sake of the rows: a second's work. The window stands at its start.
const viewLimit = 256 << 20

// The attributes of the analysed window.
const (
	windowStart = "overlay.window_start_ns"
	windowEnd   = "overlay.window_end_ns"
)

// readView finds the analysed window and the rows of the path in a .pftrace that overlay wrote; other files are shown
// as they are.
func readView(f io.ReaderAt, size int64) view {
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 1<<20)
	head, _ := in.Peek(2)
	if bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return view{}
		}
		in = bufio.NewReaderSize(z, 1<<20)
	}
	if head, _ = in.Peek(512); !kineto.IsPerfetto(head) {
		return view{}
	}
	// What cannot be read the viewer will complain about; what comes behind the limit has its rows folded.
	data, _ := io.ReadAll(io.LimitReader(in, viewLimit))
	g := frompftrace.GlanceAt(data, pftrace.CriticalColor)
	v := view{rows: g.Processes}
	start, okStart := g.Int(windowStart)
	end, okEnd := g.Int(windowEnd)
	if okStart && okEnd {
		v.start, v.end, v.path = start, end, true
	}
	return v
}

func (p *program) openCommand() *cli.Command {
	takes := groups{{[]cli.Flag{&cli.BoolFlag{Name: "no-browser", Category: filesGroup, Usage: "print the link only, start no browser"},
		&cli.BoolFlag{Name: "page", Category: filesGroup, Usage: "the report page instead of the viewer, with sliders that replay the run"}}, readOpen}, generalFlags()}
	return &cli.Command{Name: "open", Usage: "show a trace in ui.perfetto.dev from this machine", ArgsUsage: "FILE|FOLDER [flags]", Flags: takes.flags(),
		Action: p.action(takes, 1, nil, (*job).openInViewer)}
}

// readOpen reads the flags of open. A page has all analyses.
func readOpen(r *flagReader, o *options) {
	o.noBrowser = r.Bool("no-browser")
	if o.page = r.Bool("page"); o.page {
		o.analyses, o.pageOnly = analyses.Names, true
	}
}
