package page

import (
	"fmt"
	"strings"

	"overlay/internal/report"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// lanes are curves over the time of the window, one above the other on one axis.
type lanes struct {
	Strip []report.Part // what bounds the run
	At    []string      // where each part of Strip begins, for the style sheet
	Steps []spot
	Types []typed // iterations of a server
	Ticks []spot
	Curve []lane
	Slots int // of the curves
	Key   []report.Key
	Tips  []string // for each slot, what the curves show there
}

// typed is a stretch of iterations of one type.
type typed struct {
	spot
	Kind string
}

// spot is a place on the axis with what it says. Label is "" where there is no room.
type spot struct {
	At, Width float64
	Label     string
	Title     string
}

// lane is one curve: areas that stand on each other.
type lane struct {
	Label, Small string
	Title        string
	Areas        []area
}

// area is a stretch of an SVG that is as wide as it has slots, and 100 high.
type area struct {
	Kind, Path string
}

// marked is how many steps are marked one by one.
const marked = 96

// laneDevices is how many devices have curves of their own.
const laneDevices = 4

// windowLanes draws the window of the report over time.
func windowLanes(r *report.Report, list []tables.Table) lanes {
	var w lanes
	d := r.Window.Duration
	for _, s := range r.Path.Strip {
		w.Strip = append(w.Strip, report.Part{Kind: s.Class, Of: tables.ShareOf(s.End-s.Start, d), Title: report.ClassWords(s.Class) + ", " + tables.Duration(s.End-s.Start)})
		w.At = append(w.At, width(tables.ShareOf(s.Start-r.Window.Start, d)))
	}
	w.Steps, w.Types = stepMarks(r), iterationStrip(r)
	seen := map[string]bool{}
	for _, x := range w.Types {
		if !seen[x.Kind] {
			seen[x.Kind] = true
			w.Key = append(w.Key, report.Key{Kind: x.Kind, Word: x.Kind})
		}
	}
	for i := range int64(5) {
		w.Ticks = append(w.Ticks, spot{At: float64(i) / 4, Label: tables.Duration(d * i / 4)})
	}
	w.Slots = 200
	if t := tables.Find(list, "timeline_slots"); t != nil && t.Rows > 0 {
		w.Slots = t.Rows / max(1, tables.Find(list, "timeline").Rows)
	}
	w.stepTimes(r, tables.Find(list, "steps"))
	w.curves(list)
	return w
}

// stepTimes is a curve of how long steps take, where there are too many to mark each.
func (w *lanes) stepTimes(r *report.Report, steps *tables.Table) {
	if len(r.Steps) <= marked || steps == nil {
		return
	}
	longest := steps.Sorted("duration_ns").Line(0)
	var s stack
	next := 0
	for i := range int64(w.Slots) {
		from, to := r.Window.Start+r.Window.Duration*i/int64(w.Slots), r.Window.Start+r.Window.Duration*(i+1)/int64(w.Slots)
		for next < len(r.Steps) && r.Steps[next].Start+r.Steps[next].Duration <= from {
			next++
		}
		top := 0.0
		for k := next; k < len(r.Steps) && r.Steps[k].Start < to; k++ {
			top = max(top, float64(r.Steps[k].Duration))
		}
		s.add(ratio(top, longest.Value("duration_ns").Float()))
	}
	w.Curve = append(w.Curve, lane{"step time", "to " + longest.Show("duration_ns"), "how long the steps take; of several in one place the longest", s.areas("handoff")})
}

// stepMarks are the borders of the steps. Labels stand where they fit into the narrowest page.
func stepMarks(r *report.Report) (out []spot) {
	const pixels, letter = 480, 8 // of the plot on a narrow page; of a letter
	if len(r.Steps) > marked {
		return nil
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		m := spot{At: tables.ShareOf(s.Start-r.Window.Start, r.Window.Duration), Width: tables.ShareOf(s.Duration, r.Window.Duration), Title: report.Plain(s.Name) + ", " + tables.Duration(s.Duration)}
		labels := []string{s.Name}
		if number, isStep := strings.CutPrefix(s.Name, trace.StepPrefix); isStep {
			labels = []string{"step " + number, number}
		} else if kind, number, ok := strings.Cut(s.Name, "#"); ok {
			labels = []string{kind + " " + number, number}
		} else if !report.OutsideSteps(s.Name) {
			labels = nil
		}
		for _, label := range labels {
			if float64(len(label)*letter+10) < m.Width*pixels {
				m.Label = label
				break
			}
		}
		out = append(out, m)
	}
	return out
}

// narrowest is the least share of the window that is drawn.
const narrowest = 1.0 / 800

// iterationStrip is the iterations of a server by type, side by side. Those too short to be seen are drawn with the neighbour before.
func iterationStrip(r *report.Report) (out []typed) {
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Type == "" {
			continue
		}
		x := typed{spot{At: tables.ShareOf(s.Start-r.Window.Start, r.Window.Duration), Width: tables.ShareOf(s.Duration, r.Window.Duration), Title: report.Plain(s.Name) + ", " + tables.Duration(s.Duration)}, s.Type}
		if n := len(out) - 1; n >= 0 && out[n].Width < narrowest {
			out[n].Width = x.At + x.Width - out[n].At
			continue
		}
		out = append(out, x)
	}
	return out
}

// curves makes the curves of the devices out of the timeline.
func (w *lanes) curves(list []tables.Table) {
	slots := tables.Find(list, "timeline_slots")
	if slots == nil {
		return
	}
	of := slots.By("device")
	drawn := map[string]bool{}
	var tips [][]byte
	for d := range tables.Find(list, "timeline").Lines(laneDevices) {
		var busy, comm, queue stack
		name := "GPU " + d.Show("device")
		top := 0.0
		for l := range of(d) {
			top = max(top, l.Value("outstanding_max").Float())
		}
		i := 0
		for l := range of(d) {
			whole := l.Value("duration_ns").Float()
			share := func(col string) float64 { return ratio(l.Value(col).Float(), whole) }
			busy.add(share("computation_ns"), share("communication_ns"), share("copies_ns"))
			comm.add(share("communication_ns"), share("hidden_communication_ns"))
			queue.add(ratio(l.Value("outstanding_max").Float(), top))
			if i == len(tips) {
				tips = append(tips, fmt.Appendf(nil, "At %s", tables.Duration(l.Value("start_ns").Int()-of0(slots))))
			}
			tips[i] = fmt.Appendf(tips[i], " · %s computation %s, communication %s and %s hidden, copies %s, %s in its queues", name, l.Share("computation_ns", "duration_ns"),
				l.Share("communication_ns", "duration_ns"), l.Share("hidden_communication_ns", "duration_ns"), l.Share("copies_ns", "duration_ns"), tables.Counted(int(l.Value("outstanding_max").Int()), "operation"))
			i++
		}
		add := func(label, small, title string, s *stack, kinds ...string) {
			if areas := s.areas(kinds...); len(areas) > 0 {
				w.Curve = append(w.Curve, lane{label, small, title, areas})
				for _, a := range areas {
					drawn[a.Kind] = true
				}
			}
		}
		add(name+" busy", "", "share of each moment in which the device works", &busy, "gpu_compute", "communication", "copy")
		add("communication", "", "share of each moment in which communication runs: exposed, and hidden behind computation", &comm, "communication", "hidden")
		if top > 0 {
			add("queue", "to "+tables.Grouped(int64(top)), "operations launched and not ended", &queue, "cpu")
		}
	}
	for i := range tips {
		w.Tips = append(w.Tips, string(tips[i]))
	}
	for _, k := range []report.Key{{Kind: "gpu_compute", Word: "computation"}, {Kind: "communication", Word: "communication"}, {Kind: "hidden", Word: "communication hidden by computation"}, {Kind: "copy", Word: "copies"}, {Kind: "cpu", Word: "operations launched and not ended"}} {
		if drawn[k.Kind] {
			w.Key = append(w.Key, k)
		}
	}
}

// of0 is where the first slot begins.
func of0(slots *tables.Table) int64 { return slots.Line(0).Value("start_ns").Int() }

// stack is values of areas that stand on each other, a row a slot.
type stack struct{ slots [][]float64 }

func (s *stack) add(values ...float64) { s.slots = append(s.slots, values) }

// areas are the outlines: along the top of each area in steps, and back along the top of the one below it. Areas
// without anything are left out.
func (s *stack) areas(kinds ...string) (out []area) {
	for k, kind := range kinds {
		var up, down strings.Builder
		seen := false
		last := ""
		for i, v := range s.slots {
			low := 0.0
			for _, x := range v[:k] {
				low += x
			}
			seen = seen || v[k] > 0
			y := fmt.Sprintf("V%d", 100-percent(low+v[k]))
			if i == 0 {
				fmt.Fprintf(&up, "M0,100%s", y)
			} else if y != last {
				fmt.Fprintf(&up, "H%d%s", i, y)
			}
			last = y
		}
		fmt.Fprintf(&up, "H%d", len(s.slots))
		last = ""
		for i := len(s.slots) - 1; i >= 0; i-- {
			low := 0.0
			for _, x := range s.slots[i][:k] {
				low += x
			}
			if y := fmt.Sprintf("V%d", 100-percent(low)); y != last {
				if last != "" {
					fmt.Fprintf(&down, "H%d", i+1)
				}
				down.WriteString(y)
				last = y
			}
		}
		if seen {
			out = append(out, area{kind, up.String() + down.String() + "H0Z"})
		}
	}
	return out
}

func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}

func percent(x float64) int { return int(100*min(x, 1) + 0.5) }
