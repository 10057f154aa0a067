package overlay

import (
	"bytes"
	"slices"

	"overlay/internal/chrome"
	"overlay/internal/kineto"
)

// StripEarlier leaves out what an earlier overlay added to the trace, ours or HTA's: slices, arrows, names and
// counters of our categories. They are in none of the categories that the analysis reads, so it needs no telling.
// Marks on input events are dropped by the writers (see isMark); here they are counted.
func StripEarlier(tr *kineto.Trace, ov *Overlay) {
	added := addedCategories(tr)
	earlier := slices.Contains(added, true) // the rows of an earlier overlay, so its marks too
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
	if s := ov.scan.of(tr); s != nil {
		ov.HasEarlierMarks = earlier || s.hint
	} else {
		ov.HasEarlierMarks = earlier || marksHinted(tr.Src)
	}
	if !ov.HasEarlierMarks {
		return
	}
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Args != 0 && (ov.Keep == nil || ov.Keep[i]) && hasMarks(tr.Raw(kineto.EventID(i))[e.Args:]) {
			ov.EarlierRemoved++
		}
	}
}

// The keys of marks start with these. No overlay has marks of the second kind alone, unless its rows are there too.
var markHint, nodeHint = []byte(`"critical`), []byte(`"cdg_node"`)

// hasMarks reports whether args, which start b, hold a mark of an earlier overlay.
func hasMarks(b []byte) bool {
	if !bytes.Contains(b, markHint) && !bytes.Contains(b, nodeHint) {
		return false
	}
	for i := 1; ; {
		m, ok := chrome.NextMember(b, i)
		if !ok {
			return false
		}
		if isMark(string(m.Key)) {
			return true
		}
		i = m.End
	}
}

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
