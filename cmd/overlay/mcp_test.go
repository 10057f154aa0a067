package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"overlay/internal/limits"
	"overlay/internal/testtrace/corpus"
)

// TestAgents talks to `overlay mcp` as an agent does: every tool answers, and no file outside of the root is read.
func TestAgents(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	demo, err := os.ReadFile(corpus.Demo(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(root, "demo.json.gz"), filepath.Join(root, "-odd name.json.gz"), filepath.Join(outside, "secret.json.gz")} {
		if err := os.WriteFile(name, demo, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "secret.json.gz"), filepath.Join(root, "link.json.gz")); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: exec.Command(programFile(t), "mcp", "--root", root)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()

	ask := func(tool string, arguments map[string]any) (text string, failed bool) {
		r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			return err.Error(), true
		}
		for _, c := range r.Content {
			text += c.(*mcp.TextContent).Text
		}
		return text, r.IsError
	}
	// Times since 1970 are exact, as numbers and as texts, and come back as texts.
	epoch := `{"traceEvents":[`
	for i := range 9 {
		epoch += fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":"n%d","pid":1,"tid":1,"ts":1700000000000000.%03d,"dur":0.100},`, i, i*100)
	}
	if err := os.WriteFile(filepath.Join(root, "epoch.json"), []byte(strings.TrimSuffix(epoch, ",")+"]}"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to any
		want     string
	}{{json.Number("1700000000000000201"), json.Number("1700000000000000202"), `"n2"`}, {"1700000000000000399", "1700000000000000400", `"n3"`}} {
		r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "path_between", Arguments: map[string]any{"file": "epoch.json", "from_ns": c.from, "to_ns": c.to}})
		if err != nil {
			t.Fatal(err)
		}
		text := r.Content[0].(*mcp.TextContent).Text
		rows, _ := r.StructuredContent.(map[string]any)["rows"].([]any)
		if !strings.Contains(text, c.want) || strings.Count(text, "\n") != 1 || len(rows) != 1 || !strings.HasPrefix(rows[0].(map[string]any)["ts_ns"].(string), "17000000000000002") && c.want == `"n2"` {
			t.Errorf("from %v to %v: %s, %v, want %s", c.from, c.to, text, rows, c.want)
		}
	}
	if err := os.Remove(filepath.Join(root, "epoch.json")); err != nil {
		t.Fatal(err)
	}

	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      []string
	}{
		{"check", map[string]any{"file": "demo.json.gz"}, []string{`"schema": "overlay-check/1"`}},
		{"report", map[string]any{"file": "demo.json.gz"}, []string{"bound by GPU compute", "Hotspots"}},
		{"report", map[string]any{"file": "-odd name.json.gz", "step": 2, "method": "ctda", "top": 1, "analyses": "idle"}, []string{"method ctda", "idle"}},
		{"hotspots", map[string]any{"file": "demo.json.gz", "top": 3}, []string{`"kind": "kernel", "phase": "Backward", "events": 99, "critical_ns": 15411057, "percent_of_window": 17.0}`}},
		{"hotspots", map[string]any{"file": "demo.json.gz", "step": 2, "top": 1000}, []string{`"percent_of_window": `}},
		{"advise", map[string]any{"file": "demo.json.gz"}, []string{"sync-item", "replayed "}},
		{"advise", map[string]any{"file": "demo.json.gz", "step": 2}, []string{"ProfilerStep#2"}},
		{"whatif", map[string]any{"file": "demo.json.gz", "scenarios": []string{"free comm := scale class:comm=0", "no-wait *Synchronize; scale AddmmBackward0=0.5"}, "best": 2}, []string{"free comm", "no-wait *Synchro", "saved"}},
		{"diff", map[string]any{"before": "demo.json.gz", "after": filepath.Join(root, "demo.json.gz"), "step": 1}, []string{"as long as before"}},
		{"diff", map[string]any{"before": "demo.json.gz", "step": 2, "against": 3}, []string{"step 2 against step 3"}},
		{"report", map[string]any{"file": "demo.json.gz", "step": "ProfilerStep#2"}, []string{"(ProfilerStep#2, instance 0)"}},
		{"query", map[string]any{"file": "demo.json.gz", "sql": "select count(*) as n from segments"}, []string{`{"n": 1544}`}},
		{"query", map[string]any{"file": "demo.json.gz", "sql": ""}, []string{"CREATE TABLE events"}},
		{"query", map[string]any{"file": "demo.json.gz", "sql": "select * from events"}, []string{`"cat": "user_annotation"`, "… 2,735 more rows: "}},
		{"list_traces", map[string]any{}, []string{`"demo.json.gz"  (trace, `, `"-odd name.json.gz"  (trace, `}},
		{"event", map[string]any{"file": "demo.json.gz", "event": 1000}, []string{`"what": "event", "event": 1000,`}},
		{"path_between", map[string]any{"file": "demo.json.gz", "from_ns": 4812003517000, "to_ns": 4812003600000}, []string{`"critical_id": 0`, `"evidence": "program"`}},
	} {
		asked = append(asked, c.tool)
		text, failed := ask(c.tool, c.arguments)
		for _, want := range c.want {
			if failed || !strings.Contains(text, want) {
				t.Errorf("%s %v: failed %v, no %q in %.600s", c.tool, c.arguments, failed, want, text)
			}
		}
		if len(text) > limits.AgentBytes+200 {
			t.Errorf("%s %v: %d bytes", c.tool, c.arguments, len(text))
		}
		if c.tool == "event" || c.tool == "path_between" {
			for line := range strings.Lines(text) {
				if !json.Valid([]byte(line)) {
					t.Errorf("%s: no JSON: %s", c.tool, line)
				}
			}
		}
	}
	for _, tool := range tools.Tools {
		if !slices.Contains(asked, tool.Name) {
			t.Errorf("nobody asked %s", tool.Name)
		}
		if a := tool.Annotations; !a.ReadOnlyHint || !a.IdempotentHint || *a.OpenWorldHint {
			t.Errorf("%s: %+v", tool.Name, a)
		}
		if data := slices.Contains([]string{"list_traces", "check", "hotspots", "query", "event", "path_between"}, tool.Name); data != (tool.OutputSchema != nil) {
			t.Errorf("%s: output schema %v", tool.Name, tool.OutputSchema)
		}
	}

	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"report", map[string]any{"file": filepath.Join(outside, "secret.json.gz")}, "is outside of"},
		{"report", map[string]any{"file": "../" + filepath.Base(outside) + "/secret.json.gz"}, ""},
		{"check", map[string]any{"file": "link.json.gz"}, "is outside of"},
		{"report", map[string]any{"file": "missing.json.gz"}, "missing.json.gz; check the name; list_traces lists 2 traces below the root"},
		{"report", map[string]any{"file": "dema.json"}, `no file dema.json; check the name; the nearest is "demo.json.gz", and list_traces lists all`},
		{"report", map[string]any{"file": "traces/demo.pftrace"}, `the nearest is "demo.json.gz"`},
		{"report", map[string]any{"trace": "demo.json.gz"}, `unexpected additional properties ["trace"]`},
		{"report", map[string]any{"file": "demo.json.gz", "stepp": 1}, `unexpected additional properties ["stepp"]`},
		{"report", map[string]any{}, `missing properties: ["file"]`},
		{"report", map[string]any{"file": "demo.json.gz", "step": true}, `/properties/step: type: true has type "boolean"`},
		{"report", map[string]any{"file": "demo.json.gz", "step": "two"}, `--step "two"`},
		{"report", map[string]any{"file": "demo.json.gz", "method": "best"}, `--method "best" is unknown`},
		{"report", map[string]any{"file": "demo.json.gz", "analyses": "idle --html=x"}, "is unknown"},
		{"advise", map[string]any{"file": "link.json.gz"}, "is outside of"},
		{"whatif", map[string]any{"file": "link.json.gz", "best": 1}, "is outside of"},
		{"whatif", map[string]any{"file": "demo.json.gz"}, "nothing is asked"},
		{"whatif", map[string]any{"file": "demo.json.gz", "scenarios": []string{"explode everything"}}, "explode"},
		{"whatif", map[string]any{"file": "demo.json.gz", "scenarios": []string{"--scenarios=/etc/passwd"}}, ""},
		{"diff", map[string]any{"before": "link.json.gz"}, "is outside of"},
		{"hotspots", map[string]any{"file": filepath.Join(outside, "secret.json.gz")}, "is outside of"},
		{"query", map[string]any{"file": "demo.json.gz", "sql": "delete from events"}, ""},
		{"query", map[string]any{"file": "demo.json.gz", "sql": "attach '/etc/passwd' as p"}, ""},
		{"report", map[string]any{"file": "demo.json.gz", "output": "x"}, ""},
	} {
		if text, failed := ask(c.tool, c.arguments); !failed || !strings.Contains(text, c.want) {
			t.Errorf("%s %v: failed %v, %.600s", c.tool, c.arguments, failed, text)
		}
	}
}
