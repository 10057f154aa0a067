package overlay

import (
	"slices"

	"overlay/internal/par"
	"overlay/internal/trace"
)

// StripEarlier leaves out what an earlier overlay added to the trace, ours or HTA's: slices, arrows, names and
// counters of our categories. They are in none of the categories that the analysis reads, so it needs no telling.
// Marks on input events are dropped by the writers (see IsMark); here they are counted.
func StripEarlier(tr *trace.Trace, drawing *Drawing) {
	added := addedCategories(tr)
	earlier := slices.Contains(added, true) // the rows of an earlier overlay, so its marks too
	if earlier {
		leaveOut(tr, drawing, added)
	}
	drawing.HasEarlierMarks = earlier || tr.Marked
	if !drawing.HasEarlierMarks {
		return
	}
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Flags&trace.HasArgs != 0 && (drawing.Keep == nil || drawing.Keep[i]) && HasMarks(tr, trace.EventID(i)) {
			drawing.EarlierRemoved++
		}
	}
}

// leaveOut leaves out the events of some categories.
func leaveOut(tr *trace.Trace, drawing *Drawing, added []bool) {
	for i := range tr.Events {
		if added[tr.Events[i].Cat] {
			if drawing.Keep == nil {
				drawing.Keep = make([]bool, len(tr.Events))
				for k := range drawing.Keep {
					drawing.Keep[k] = true
				}
			}
			drawing.Keep[i] = false
			drawing.EarlierRemoved++
		}
	}
}

// Prescan makes the input answer beforehand what drawing asks of all of its bytes, beside the analysis, which leaves a
// core idle. The returned function waits for the end.
func Prescan(tr *trace.Trace) (wait func()) {
	return par.Beside(func() { tr.Source.Digest() })
}

// HasMarks reports whether an event carries marks of an earlier overlay.
func HasMarks(tr *trace.Trace, id trace.EventID) bool {
	found := false
	tr.TopArgs(id, func(key string, _ trace.Value) bool {
		found = IsMark(key)
		return !found
	})
	return found
}

// addedCategories says for each category symbol whether overlays add it.
func addedCategories(tr *trace.Trace) []bool {
	added := make([]bool, min(len(tr.Syms), 1<<16))
	for s := range added {
		added[s] = addedCategory(tr.Syms[s])
	}
	return added
}
