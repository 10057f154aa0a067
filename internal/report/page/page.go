// Package page shows reports to people who have a browser: as pages that need nothing else, as pictures, and as comments
// for a change under review. It reads reports and what they were made from, and works nothing out that they do not say; numbers become text in
// the package of tables. Programs that show text only leave this package out, and with it the templates of the library.
package page

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/report"
	"overlay/internal/tables"
)

//go:embed templates/*.html
var pageFiles embed.FS

// page parses the templates; every value goes through their escaping. They are made when they are wanted, and so a
// program that writes no page holds none.
func page() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"ms": tables.Duration, "percent": tables.FormatShare, "share": tables.ShareOf, "group": func(n int) string { return tables.Grouped(int64(n)) }, "width": width,
		"word":    report.ClassWords,
		"classes": report.ByTime,
		"hues": func() (all []critpath.Class) {
			for c := range critpath.NumClasses {
				all = append(all, c)
			}
			return all
		},
		"short": func(n int, s string) string { return report.Shorten(report.Plain(s), n) },
		"plain": report.Plain,
		"title": report.Sentence,
		"words": report.Words,
		"json":  func(v any) (string, error) { b, err := json.Marshal(v); return string(b), err },
	}).ParseFS(pageFiles, "templates/*.html"))
}

// sections are the sections of a page that have a name, with their heads.
var sections = regexp.MustCompile(`<section id="(\w+)">\n<h2>(.*?)</h2>`)

// contents is where the list of sections stands in a page.
const contents = `<nav aria-label="Contents"></nav>`

// fewSections is up to how many sections a page needs no list of them.
const fewSections = 3

// write makes a page of a template, with a list of its sections in place of the empty one.
func write(w io.Writer, name string, data any) error { return Write(w, "", name, data) }

// Write is for packages that have a template of their own, more, which takes head, style and script from here.
func Write(w io.Writer, more, name string, data any) error {
	var b bytes.Buffer
	if err := template.Must(page().Parse(more)).ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	list := ""
	if found := sections.FindAllSubmatch(b.Bytes(), -1); len(found) > fewSections {
		var links strings.Builder
		for _, m := range found {
			fmt.Fprintf(&links, `<a href="#%s">%s</a> `, m[1], m[2])
		}
		list = strings.Replace(contents, "></nav>", ">"+strings.TrimSpace(links.String())+"</nav>", 1)
	}
	_, err := w.Write(bytes.Replace(b.Bytes(), []byte(contents), []byte(list), 1))
	return err
}

// width is a part of the place for a bar as the style sheet wants it. It is drawn and not read.
func width(x float64) template.CSS { return template.CSS(tables.Fixed(100*x, 2) + "%") }
