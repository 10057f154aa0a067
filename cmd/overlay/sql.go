package main

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
)

// sqlText is what `overlay sql` prints.
//
//go:embed overlay.sql
var sqlText string

func (p *program) sqlCommand() *cli.Command {
	takes := groups{{[]cli.Flag{writesFile(&cli.StringFlag{Name: "extension", Category: filesGroup,
		Usage: "instead, write into the folder `DIR` what the viewer reads as an extension server: the views as a module, each query as a macro"})},
		func(r *flagReader, o *options) { o.output = r.path("extension") }}, generalFlags()}
	return &cli.Command{Name: "sql", Usage: "print PerfettoSQL views and queries for the output", ArgsUsage: "", Flags: takes.flags(),
		Description: `
The text goes into the query page of ui.perfetto.dev or into trace_processor_shell. It works on both output formats. With
--extension, people who open traces add it once: the folder goes to a repository on GitHub or to any web server that
lets ui.perfetto.dev read it, and its address into the viewer's settings, under Extension servers.

Examples:
  overlay sql > overlay.sql
  trace_processor_shell query -f overlay.sql overlaid.pftrace
  overlay sql --extension perfetto-overlay`,
		Action: p.action(takes, 0, nil, (*job).printSQL)}
}

func (j *job) printSQL() error {
	if j.opts.output == "" {
		return j.print(sqlText)
	}
	return j.writeExtension(j.opts.output)
}

// command is one command of the viewer, for startup commands and macros.
type command struct {
	ID   string   `json:"id"`
	Args []string `json:"args"`
}

// Commands that the viewer promises to keep.
const (
	pinTracks    = "dev.perfetto.PinTracksByRegex"
	expandTracks = "dev.perfetto.ExpandTracksByRegex"
	runQuery     = "dev.perfetto.RunQuery"
	showQuery    = "dev.perfetto.RunQueryAndShowTab"
)

// pathRows matches the rows of the path.
const pathRows = "^(Critical path|Path segments)$"

// pathQuery is what the path is made of, by what happens on it. It needs none of the views.
const pathQuery = `-- critical path: what it is made of
SELECT name, count(*) AS segments, round(sum(dur) / 1e6, 3) AS ms, round(100.0 * sum(dur) / (SELECT sum(dur) FROM slice WHERE category = 'critical_path'), 1) AS percent FROM slice WHERE category = 'critical_path' GROUP BY name ORDER BY sum(dur) DESC`

// What the viewer wants of an extension server: names begin with its namespace.
const (
	extensionSpace  = "overlay"
	extensionModule = extensionSpace + ".path"
)

type (
	named struct {
		Name string `json:"name"`
	}
	server struct {
		Name      string        `json:"name"`
		Namespace string        `json:"namespace"`
		Features  []named       `json:"features"`
		Modules   []serverGroup `json:"modules"`
	}
	serverGroup struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	macro struct {
		ID   string    `json:"id"`
		Name string    `json:"name"`
		Run  []command `json:"run"`
	}
	sqlModule struct {
		Name string `json:"name"`
		SQL  string `json:"sql"`
	}
)

// writeExtension writes the static tree of an extension server. Files that are there are replaced.
func (j *job) writeExtension(dir string) error {
	views, macros := splitSQL(sqlText)
	if err := os.MkdirAll(filepath.Join(dir, "modules", "default"), 0o777); err != nil {
		return outputError(dir, err)
	}
	for _, f := range []struct {
		name string
		v    any
	}{
		{"manifest", server{Name: "overlay", Namespace: extensionSpace, Features: []named{{"macros"}, {"sql_modules"}}, Modules: []serverGroup{{"default", "Critical path"}}}},
		{"modules/default/macros", map[string]any{"macros": macros}},
		{"modules/default/sql_modules", map[string]any{"sql_modules": []sqlModule{{extensionModule, views}}}},
	} {
		out, err := j.outs.create(filepath.Join(dir, filepath.FromSlash(f.name)))
		if err != nil {
			return err
		}
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(f.v); err != nil {
			return err
		}
	}
	if j.opts.quiet {
		return nil
	}
	return j.print("wrote " + dir + ": add it in the settings of ui.perfetto.dev as an extension server, from a repository on GitHub or a web server; then\n" +
		"macros of the command palette begin with \"overlay:\", and queries may say INCLUDE PERFETTO MODULE " + extensionModule + ";\n")
}

// splitSQL parts the text into the views, as a module, and a macro for each query. A query begins with its number and
// its question in a comment.
func splitSQL(text string) (views string, macros []macro) {
	macros = []macro{{extensionSpace + ".ShowPath", "overlay: show the critical path", []command{{pinTracks, []string{pathRows}}, {showQuery, []string{pathQuery}}}}}
	parts := strings.Split(text, "\n\n")
	for _, part := range parts {
		part = strings.TrimSpace(part)
		head, rest, _ := strings.Cut(strings.TrimPrefix(part, "-- "), ". ")
		if len(head) != 1 || head[0] < '1' || head[0] > '9' {
			if strings.Contains(part, "PERFETTO VIEW") {
				views += strings.ReplaceAll(part, "CREATE OR REPLACE", "CREATE") + "\n\n" // the viewer loads a module once
			}
			continue
		}
		question, _, _ := strings.Cut(rest, "?")
		macros = append(macros, macro{extensionSpace + ".Question" + head, "overlay: " + strings.ToLower(question[:1]) + question[1:] + "?",
			[]command{{runQuery, []string{"INCLUDE PERFETTO MODULE " + extensionModule + ";"}}, {showQuery, []string{part}}}})
	}
	return views, macros
}
