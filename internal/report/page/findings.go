package page

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/advise"
	"overlay/internal/report"
	"overlay/internal/tables"
)

// finding is a line of the first screen: what was found, how much time it is about, and what to do.
type finding struct {
	Kind  string // class of the style sheet
	NS    int64
	Value string // NS as it is shown
	About string // what the value is
	Title string
	Text  string
}

// findings are what is most worth knowing: first the advice, most gain first; then, most time first, the largest hotspot
// and what the analyses say of idle GPUs, waiting calls and exposed communication.
func findings(r *report.Report, list []tables.Table) []finding {
	var out []finding
	if t := tables.Find(list, "hotspots"); t != nil && t.Rows > 0 {
		l := t.Line(0)
		f := finding{Kind: report.ClassOf(l.Str("kind")), NS: l.Value("critical_ns").Int(), Value: l.Show("critical_ns"), About: "on the path",
			Title: report.Plain(l.Str("readable")) + " is the largest hotspot", Text: l.Show("share_of_window") + " of the window, in " + counted(l, "calls", "call") + "."}
		if caller := l.Str("caller"); caller != "" {
			f.Text += " It comes from " + report.Plain(caller) + "."
		}
		out = append(out, f)
	}
	if t := tables.Find(list, "blocking"); t != nil {
		if l, ok := largest(t, "waited_ns"); ok {
			f := finding{Kind: "sync", NS: l.Value("waited_ns").Int(), Value: l.Show("waited_ns"), About: "of waiting for the GPU",
				Title: blockingName(l) + " blocks the CPU", Text: sentence(cmp.Or(l.Str("hint"), "in "+counted(l, "waited", "call"))) + "."}
			if f.NS > r.Window.Duration { // no time of the window, which is one for all threads
				f.NS, f.About = 0, "of waiting for the GPU, all threads together"
			}
			out = append(out, f)
		}
	}
	if t := tables.Find(list, "temporal"); t != nil {
		if l, ok := largest(t, "idle_ns"); ok && l.Value("idle_ns").Int()*5 > l.Value("span_ns").Int() {
			f := finding{Kind: "nothing", NS: l.Value("idle_ns").Int(), Value: l.Show("idle_ns"), About: "without work",
				Title: gpu(l).Text + " is idle " + l.Share("idle_ns", "span_ns") + " of its time", Text: "Why its streams had nothing to do stands below."}
			if why := idleBecause(list); why != "" {
				f.Text = sentence(why) + "."
			}
			out = append(out, f)
		}
	}
	if t := tables.Find(list, "overlap"); t != nil {
		if l, ok := largest(t, "exposed_ns"); ok && l.Value("exposed_ns").Int()*20 > r.Window.Duration {
			out = append(out, finding{Kind: "communication", NS: l.Value("exposed_ns").Int(), Value: l.Show("exposed_ns"), About: "exposed",
				Title: "Communication of " + gpu(l).Text + " is not hidden", Text: "Computation hides " + l.Show("ratio") + " of it."})
		}
	}
	slices.SortStableFunc(out, func(a, b finding) int { return cmp.Compare(b.NS, a.NS) })
	out = append(advised(r), out...)
	return out[:min(len(out), report.TopFindings)]
}

// advised are the causes that the advice puts first.
func advised(r *report.Report) (out []finding) {
	if r.Advice == nil {
		return nil
	}
	for _, f := range r.Advice.Top(report.TopFindings) {
		x := finding{Kind: f.Class().String(), NS: f.Gain, Value: tables.Duration(f.Gain), About: "shorter, " + tables.FormatShare(f.Share),
			Title: sentence(f.Title), Text: sentence(report.Plain(f.Do)) + ". Seen: " + report.Plain(f.Saw) + "."}
		if f.Kind == advise.AtMost {
			x.About = "shorter at most, " + tables.FormatShare(f.Share)
		}
		out = append(out, x)
	}
	return out
}

// sentence begins a sentence. What is code keeps its letters.
func sentence(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if first == "" || strings.Trim(first, "abcdefghijklmnopqrstuvwxyz,:-") != "" {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// counted is a number of a line with what it counts: 1 call, 2,000 calls.
func counted(l tables.Line, column, noun string) string {
	return tables.Counted(int(l.Value(column).Int()), noun)
}
