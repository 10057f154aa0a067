// Package page shows reports to people who have a browser: as pages that need nothing else, as pictures, and as comments
// for a change under review. It reads reports and what they were made from, and works nothing out that they do not say; numbers become text in
// the package of tables. Programs that show text only leave this package out, and with it the templates of the library.
package page

import (
	"embed"
	"encoding/json"
	"html/template"

	"overlay/internal/report"
	"overlay/internal/tables"
)

//go:embed templates/*.html
var pageFiles embed.FS

// page parses the templates; every value goes through their escaping. They are made when they are wanted, and so a
// program that writes no page holds none.
func page() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"ms": tables.Duration, "percent": tables.FormatShare, "share": tables.ShareOf, "group": func(n int) string { return tables.Grouped(int64(n)) },
		"word":    report.ClassWords,
		"classes": report.ByTime,
		"short":   func(n int, s string) string { return report.Shorten(report.Plain(s), n) },
		"plain":   report.Plain,
		"title":   sentence,
		"add":     func(a, b int64) int64 { return a + b },
		"words":   report.Words,
		"json":    func(v any) (string, error) { b, err := json.Marshal(v); return string(b), err },
	}).ParseFS(pageFiles, "templates/*.html"))
}

// maxRows is how many rows the long tables of the page hold.
const maxRows = 200

// shown gives the page the rows of tables.
type shown []tables.Table

// Rows is the head of a table.
func (s shown) Rows(name string) []tables.Line {
	var out []tables.Line
	if t := tables.Find(s, name); t != nil {
		for l := range t.Lines(maxRows) {
			out = append(out, l)
		}
	}
	return out
}

// Row is the row of a table that always has one.
func (s shown) Row(name string) tables.Line { return tables.Find(s, name).Line(0) }
