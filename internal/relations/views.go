package relations

import (
	_ "embed"
	"strings"
)

// Views is SQL that makes views over the tables, in words that SQLite and DuckDB share.
//
//go:embed views.sql
var Views string

// Mentioned reports by name which tables a query may read: those whose names occur in it, and those below the views whose
// names do.
func Mentioned(sql string) func(table string) bool {
	text := strings.ToLower(sql)
	for view := range strings.SplitSeq(strings.ToLower(Views), "create view ") {
		if name, _, ok := strings.Cut(view, " as\n"); ok && strings.Contains(text, name) {
			text += view
		}
	}
	return func(table string) bool { return strings.Contains(text, table) }
}
