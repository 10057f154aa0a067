package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExtension reads what `overlay sql --extension` writes as the viewer does, and by its rules.
func TestExtension(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "server")
	for range 2 { // the second time over the first
		if status := run([]string{"overlay", "sql", "--extension", dir, "--quiet"}, nil, os.Stderr, os.Stderr); status != 0 {
			t.Fatalf("status %d", status)
		}
	}
	read := func(name string, to any) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, to); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var s server
	read("manifest", &s)
	if s.Namespace == "" || len(s.Modules) != 1 || s.Modules[0].ID != "default" || len(s.Features) != 2 {
		t.Fatalf("%+v", s)
	}
	var m struct{ Macros []macro }
	read("modules/default/macros", &m)
	var q struct {
		Modules []sqlModule `json:"sql_modules"`
	}
	read("modules/default/sql_modules", &q)
	if len(m.Macros) != 6 || len(q.Modules) != 1 {
		t.Fatalf("%d macros, %d modules", len(m.Macros), len(q.Modules))
	}
	module := q.Modules[0]
	if !strings.HasPrefix(module.Name, s.Namespace+".") || strings.Count(module.SQL, "CREATE PERFETTO VIEW overlay_") != 2 || strings.Contains(module.SQL, "LIMIT") {
		t.Errorf("module %q: %s", module.Name, module.SQL)
	}
	known := []string{pinTracks, runQuery, showQuery}
	for _, x := range m.Macros {
		if !strings.HasPrefix(x.ID, s.Namespace+".") || !strings.HasPrefix(x.Name, "overlay: ") || len(x.Run) != 2 {
			t.Errorf("%+v", x)
		}
		for _, c := range x.Run {
			if c.ID != known[0] && c.ID != known[1] && c.ID != known[2] || len(c.Args) != 1 {
				t.Errorf("%s: %+v", x.Name, c)
			}
			if c.ID == runQuery && c.Args[0] != "INCLUDE PERFETTO MODULE "+module.Name+";" {
				t.Errorf("%s: %s", x.Name, c.Args[0])
			}
		}
	}
}
