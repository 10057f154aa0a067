// Package page shows reports to people who have a browser: as pages that need nothing else, as pictures, and as comments
// for a change under review. It reads reports and what they were made from, and works nothing out that they do not say; numbers become text in
// the package of tables.
package page

import (
	"embed"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"text/template/parse"

	"overlay/internal/critpath"
	"overlay/internal/report"
	"overlay/internal/tables"
)

//go:embed templates/*.html
var pageFiles embed.FS

// page parses the templates. They are made when they are wanted, and so a program that writes no page holds none.
func page(more string) *templates {
	type hue struct{ Name, Hex string }
	t := &templates{map[string]*parse.Tree{}, map[string]any{
		"index": index, "eq": func(a, b int) bool { return a == b }, "print": func(list ...string) string { return strings.Join(list, "") },
		"ms": tables.Duration, "percent": tables.FormatShare, "share": tables.ShareOf, "group": func(n int) string { return tables.Grouped(int64(n)) }, "width": width, "heads": headsOver,
		"few":     func(columns []report.Column) bool { return len(columns) <= 4 }, // a table without long lines: its bars may be wide
		"opacity": func(of float64) string { return tables.Fixed(min(max(of, 0), 1), 2) },
		"word":    report.ClassWords,
		"classes": report.ByTime,
		"hues": func() (all []hue) {
			for c := range critpath.NumClasses {
				all = append(all, hue{c.String(), c.Hex()})
			}
			return all
		},
		"short": func(n int, s string) string { return report.Shorten(report.Plain(s), n) },
		"plain": report.Plain,
		"title": report.Sentence,
		"json":  asJSON,
		"tips":  func(list []string) string { return string(asJSON(list)) }, // in an attribute
	}}
	files, _ := pageFiles.ReadDir("templates") // it is part of the program
	for _, f := range files {
		b, _ := pageFiles.ReadFile("templates/" + f.Name())
		t.add(string(b))
	}
	t.add(more)
	return t
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
	x := execution{templates: page(more)}
	x.template(name, reflect.ValueOf(data))
	b := x.out.String()
	list := ""
	if found := sections.FindAllStringSubmatch(b, -1); len(found) > fewSections {
		var links strings.Builder
		for _, m := range found {
			fmt.Fprintf(&links, `<a href="#%s">%s</a> `, m[1], m[2])
		}
		list = strings.Replace(contents, "></nav>", ">"+strings.TrimSpace(links.String())+"</nav>", 1)
	}
	_, err := io.WriteString(w, strings.Replace(b, contents, list, 1))
	return err
}

// width is a part of the place for a bar as the style sheet wants it. It is drawn and not read.
func width(x float64) string { return tables.Fixed(100*x, 2) + "%" }
