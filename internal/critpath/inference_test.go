package critpath_test

import (
	"path/filepath"
	"slices"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// withoutSync is a copy of a trace without its cuda_sync records, as most users record it.
func withoutSync(tr *trace.Trace) (c *trace.Trace, removed int) {
	copied := *tr
	copied.Events = slices.Clone(tr.Events)
	for i := range copied.Events {
		if e := &copied.Events[i]; e.Kind == trace.SyncRecord {
			e.Kind = trace.Overhead
			removed++
		}
	}
	return &copied, removed
}

type waitPair struct{ to, from trace.EventID }

// waits returns the recorded or inferred waits of a trace: GPU to GPU and GPU to CPU.
func waits(t *testing.T, tr *trace.Trace, rules ...cdg.Rule) map[waitPair]bool {
	g := testtrace.Graph(t, tr)
	d := g
	found := map[waitPair]bool{}
	for a := range d.Acts {
		for _, dep := range d.Sources(cdg.ActID(a)) {
			if slices.Contains(rules, dep.Rule) {
				found[waitPair{d.Acts[a].Event, d.Acts[dep.From].Event}] = true
			}
		}
	}
	return found
}

// What is inferred without cuda_sync records is compared with what they say.
func TestInferenceAgainstSyncRecords(t *testing.T) {
	compared := 0
	for _, file := range corpus.Files(t, "*.json.gz") {
		tr := readTrace(t, file)
		stripped, records := withoutSync(tr)
		if records == 0 {
			continue
		}
		compared++
		for _, rule := range []cdg.Rule{cdg.Sync, cdg.EventWait} {
			truth, inferred := waits(t, tr, rule), waits(t, stripped, rule)
			both := 0
			for w := range inferred {
				if truth[w] {
					both++
				}
			}
			t.Logf("%-60.60s %3d records, %-10s %2d recorded, %2d inferred, %2d agree", filepath.Base(file), records, rule, len(truth), len(inferred), both)
			if rule == cdg.Sync && both != len(truth) {
				for w := range truth {
					if !inferred[w] {
						t.Errorf("%s: %s at %d waited for %s, not inferred", filepath.Base(file), tr.Name(w.to), w.to, tr.Name(w.from))
					}
				}
			}
			if rule == cdg.Sync && both != len(inferred) {
				for w := range inferred {
					if !truth[w] {
						t.Errorf("%s: %s at %d did not wait for %s", filepath.Base(file), tr.Name(w.to), w.to, tr.Name(w.from))
					}
				}
			}
		}
	}
	if compared == 0 {
		t.Error("no trace has records of waits")
	}
}
