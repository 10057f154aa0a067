package overlay

import (
	"bytes"

	"overlay/internal/kineto"
)

// StripEarlier leaves out what an earlier overlay added to the trace, ours or HTA's: slices, arrows, names and
// counters of our categories. They are in none of the categories that the analysis reads, so it needs no telling.
// Marks on input events are dropped by the writers (see isMark); here they are counted.
func StripEarlier(tr *kineto.Trace, ov *Overlay) {
	added := addedCategories(tr)
	for i := range tr.Events {
		if added[tr.Events[i].Cat] {
			if ov.Keep == nil {
				ov.Keep = make([]bool, len(tr.Events))
				for k := range ov.Keep {
					ov.Keep[k] = true
				}
			}
			ov.Keep[i] = false
			ov.EarlierRemoved++
		}
	}
	if ov.HasEarlierMarks = bytes.Contains(tr.Src, markHint); !ov.HasEarlierMarks {
		return
	}
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Args != 0 && (ov.Keep == nil || ov.Keep[i]) && bytes.Contains(tr.Raw(kineto.EventID(i))[e.Args:], markHint) {
			ov.EarlierRemoved++
		}
	}
}

// markHint is in every event with marks of the path.
var markHint = []byte(`"critical`)

// addedCategories says for each category symbol whether overlays add it.
func addedCategories(tr *kineto.Trace) []bool {
	added := make([]bool, min(len(tr.Syms), 1<<16))
	for s := range added {
		added[s] = addedCategory(tr.Syms[s])
	}
	return added
}

// addedCategory reports whether a category is one of those that overlays add. No profiler writes them.
func addedCategory(cat string) bool {
	switch cat {
	case summaryCategory, segmentsCategory, nodesCategory, "critical_path_analysis":
		return true
	}
	return false
}
