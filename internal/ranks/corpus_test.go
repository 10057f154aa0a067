package ranks_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// summarize makes the summary of a file.
func summarize(t testing.TB, file string, rank int) *ranks.Summary {
	t.Helper()
	tr := testtrace.Read(t, file)
	g, p := testtrace.Exact(t, tr)
	return ranks.Summarize(g, p, ranks.Identity{Source: filepath.Base(file), Rank: ranks.Rank(rank), By: "name"})
}

var worker = regexp.MustCompile(`worker(\d+)_`)

// dlrm8 are the summaries of the complete set of eight ranks.
func dlrm8(t testing.TB) []*ranks.Summary {
	t.Helper()
	var list []*ranks.Summary
	for _, file := range corpus.Files(t, "param__dlrm8__worker*.json.gz") {
		n, _ := strconv.Atoi(worker.FindStringSubmatch(file)[1])
		list = append(list, summarize(t, file, n))
	}
	return list
}

// TestSummarizeReal checks the summaries of real traces, and that each piece of the walks is held once.
func TestSummarizeReal(t *testing.T) {
	n := 0
	for _, file := range corpus.Files(t, "param__dlrm8__*.json.gz", "HTA__nccl*.json.gz", "HTA__trace_diff__test*.json.gz", "TraceLens__mi300*.json.gz") {
		s := summarize(t, file, 0)
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", s.Source, err)
		}
		n += len(s.Ops)
		t.Logf("%-60.60s %d operations, %d kinds, %d groups, %d runs, %d names", s.Source, len(s.Ops), len(s.Kinds), len(s.Groups), len(s.Runs), len(s.Names))
	}
	if corpus.Long() && n < 100 { // large traces have most of them
		t.Errorf("only %d operations", n)
	}
}
