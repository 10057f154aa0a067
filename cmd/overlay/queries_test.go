//go:build !quick

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"overlay/internal/testtrace"
)

// question is a query of docs/reference/queries.md with the answer that stands below it.
type question struct {
	title, sql, answer string
	ranks              bool // asked of several ranks
	from, to           int  // the answer in the text
}

var questionForm = regexp.MustCompile("(?s)### (\\d+\\. [^\n]*)\n\n```sql\n(.*?)\n```\n(?:\n```\n(.*?)```\n)?")

func readQuestions(t *testing.T) (text string, list []question) {
	t.Helper()
	b, err := os.ReadFile("../../docs/reference/queries.md")
	if err != nil {
		t.Fatal(err)
	}
	text = string(b)
	ranks := strings.Index(text, "## Many ranks")
	for _, m := range questionForm.FindAllStringSubmatchIndex(text, -1) {
		q := question{title: text[m[2]:m[3]], sql: text[m[4]:m[5]], ranks: m[0] > ranks, from: m[5] + len("\n```\n"), to: m[1]}
		if m[6] >= 0 {
			q.answer = text[m[6]:m[7]]
		}
		list = append(list, q)
	}
	if len(list) != 20 {
		t.Fatalf("%d questions of 20", len(list))
	}
	return text, list
}

// demoRanks exports the job of `make demo-ranks`.
func demoRanks(t *testing.T, dir string) {
	t.Helper()
	traces := t.TempDir()
	job := testtrace.NewJob(testtrace.JobOptions{Kind: "moe", Cause: "data", World: 8, PerHost: 4, Steps: 4, Seed: 3})
	for r := range job.Ranks {
		if err := os.WriteFile(filepath.Join(traces, job.Ranks[r].File), job.JSON(int32(r)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	overlayOutput(t, "export", "-i", traces, "-o", dir, "--run", "demo", "--quiet")
}

func overlayOutput(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if status := run(append([]string{"overlay"}, args...), nil, &out, &errs); status != 0 {
		t.Fatalf("overlay %q: status %d: %s", args, status, errs.String())
	}
	return out.String()
}

// TestQuestions asks each question of docs/reference/queries.md of the trace, or of the ranks, and of exported tables, and wants the
// answer that stands there; -update rewrites it.
func TestQuestions(t *testing.T) {
	text, list := readQuestions(t)
	dir := t.TempDir()
	one, many := filepath.Join(dir, "one"), filepath.Join(dir, "many")
	overlayOutput(t, "export", "-i", "../../testdata/demo.json.gz", "-o", one, "--run", "demo", "--quiet")
	demoRanks(t, many)
	for i := len(list) - 1; i >= 0; i-- { // from the end, so that the places in the text stay
		q := list[i]
		source, tables := "../../testdata/demo.json.gz", one
		if q.ranks {
			source, tables = many, many
		}
		got := overlayOutput(t, "query", q.sql, source)
		if again := overlayOutput(t, "query", q.sql, tables); again != got {
			t.Errorf("%s: from exported tables\n%s\nfrom the trace\n%s", q.title, again, got)
		}
		if strings.Count(got, "\n") < 3 {
			t.Errorf("%s: no answer", q.title)
		}
		if *update {
			text = text[:q.from] + "\n```\n" + got + "```\n" + text[q.to:]
		} else if got != q.answer {
			t.Errorf("%s:\n%s\nwant\n%s", q.title, got, q.answer)
		}
	}
	if *update {
		if err := os.WriteFile("../../docs/reference/queries.md", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
