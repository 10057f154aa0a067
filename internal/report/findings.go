package report

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/advise"
	"overlay/internal/tables"
)

// Finding is a line of the first screen: what was found, how much time it is about, and what to do.
type Finding struct {
	Kind  string // class of the style sheet
	NS    int64
	Value string // NS as it is shown
	About string // what the value is
	Title string
	Text  string
}

// Highlights are what is most worth knowing: first the advice, most gain first; then, most time first, the largest hotspot
// and what the analyses say of idle GPUs, waiting calls and exposed communication.
func (r *Report) Highlights() []Finding {
	var out []Finding
	list := r.Tables()
	add := func(table, col, kind, about, title, text string) *Finding {
		l, ok := largest(tables.Find(list, table), col)
		if !ok {
			return &Finding{}
		}
		out = append(out, Finding{say(l, kind), l.Value(col).Int(), l.Show(col), about, say(l, title), say(l, text)})
		return &out[len(out)-1]
	}
	spot := add("hotspots", "critical_ns", "{of kind}", "on the path", "{readable} is the largest hotspot", "{share_of_window} of the window, in {calls#call}.")
	if spot.NS > 0 {
		switch h := &r.Hotspots[0]; {
		case h.Graph != "" && h.Operator == "":
			spot.Text += " It is " + h.Graph + "."
		case h.Caller != "":
			spot.Text += " It comes from " + Plain(h.Caller) + "."
		}
	}
	if f := add("blocking", "waited_ns", "sync", "of waiting for the GPU", "{called call} blocks the CPU", "{hint}"); f.NS > 0 {
		l, _ := largest(tables.Find(list, "blocking"), "waited_ns")
		f.Text = Sentence(cmp.Or(f.Text, say(l, "in {waited#call}"))) + "."
		if f.NS > r.Window.Duration { // no time of the window, which is one for all threads
			f.NS, f.About = 0, "of waiting for the GPU, all threads together"
		}
	}
	if l, ok := largest(tables.Find(list, "temporal"), "idle_ns"); ok && l.Value("idle_ns").Int()*5 > l.Value("span_ns").Int() {
		f := add("temporal", "idle_ns", "nothing", "without work", device+" is idle {idle_ns/span_ns} of its time", "Why its streams had nothing to do stands below.")
		if _, top, ok := idleBecause(list); ok {
			is := causes[top.Str("cause")]
			f.Text = "Mostly " + is.word + ": " + is.means + "."
		}
	}
	if l, ok := largest(tables.Find(list, "overlap"), "exposed_ns"); ok && l.Value("exposed_ns").Int()*20 > r.Window.Duration {
		add("overlap", "exposed_ns", "communication", "exposed", "Communication of "+device+" is not hidden", "Computation hides {ratio} of it.")
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(b.NS, a.NS) })
	out = append(advised(r), out...)
	return out[:min(len(out), TopFindings)]
}

// advised are the causes that the advice puts first.
func advised(r *Report) (out []Finding) {
	if r.Advice == nil {
		return nil
	}
	for _, f := range r.Advice.Top(TopFindings) {
		x := Finding{Kind: f.Class().String(), NS: f.Gain, Value: tables.Duration(f.Gain), About: "shorter, " + tables.FormatShare(f.Share),
			Title: Sentence(f.Title), Text: Sentence(Plain(f.Do)) + ". Seen: " + Plain(f.Saw) + "."}
		if f.Kind == advise.AtMost {
			x.About = "shorter at most, " + tables.FormatShare(f.Share)
		}
		out = append(out, x)
	}
	return out
}

// Sentence begins a sentence. What is code keeps its letters.
func Sentence(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if first == "" || strings.Trim(first, "abcdefghijklmnopqrstuvwxyz,:-") != "" {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
