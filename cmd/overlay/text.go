package main

import (
	"encoding/json"
	"io"

	"overlay/internal/report"
)

// writeJSON writes an indented JSON document.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeLines writes a line and lists of further ones, indented.
func writeLines(w io.Writer, first string, lists ...[]string) error {
	first = report.Plain(first)
	for _, list := range lists {
		for _, line := range list {
			first += "\n  " + report.Plain(line)
		}
	}
	_, err := io.WriteString(w, first+"\n")
	return err
}
