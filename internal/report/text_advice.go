package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"overlay/internal/advise"
	"overlay/internal/tables"
)

// gainIndent is where the words of a finding begin.
const gainIndent = 23

// advice prints the findings of the first screen.
func (t *text) advice(a *advise.Advice) {
	if a == nil {
		return
	}
	top := a.Top(TopFindings)
	t.line("")
	if len(top) == 0 {
		t.nothingFound(a)
		return
	}
	legend := ""
	if slices.ContainsFunc(top, func(f *advise.Finding) bool { return f.Kind == advise.AtMost }) {
		legend = " (≤: at most so much)"
	}
	t.line("%s", t.bold("advice: what would make the window shorter")+legend)
	t.based(a)
	for _, f := range top {
		title, room := f.Title, t.width-gainIndent
		if len(f.Lines) > 0 {
			title += ", most at " + f.Lines[0].Line
		}
		do := f.Do
		if f.Confidence != advise.High && f.Group == advise.Specific {
			do = "perhaps " + do
		}
		if more := do + " (" + f.Saw + ")"; f.Saw != "" && utf8.RuneCountInString(more) <= room {
			do = more
		}
		t.line("%s %7s %11s  %s", atMost(f), tables.FormatShare(f.Share), tables.Duration(f.Gain), Shorten(Plain(title), room))
		t.line("%*s%s", gainIndent, "", Shorten(Plain(do), room))
	}
	t.together(a, len(top))
}

// atMost marks gains that are bounds.
func atMost(f *advise.Finding) string {
	if f.Kind == advise.AtMost {
		return "≤"
	}
	return " "
}

// gainShare is a gain as a part of the window, in words where it is a bound.
func gainShare(f *advise.Finding) string {
	if f.Kind == advise.AtMost {
		return "at most " + tables.FormatShare(f.Share)
	}
	return tables.FormatShare(f.Share)
}

// nothingFound is a result too; the most useful thing to record stands beside it.
func (t *text) nothingFound(a *advise.Advice) {
	t.line("%s", Shorten(fmt.Sprintf("advice: nothing found above 1 %% of the window (%d rules)", a.Rules), t.width))
	for i := range a.Findings {
		if f := &a.Findings[i]; f.Kind == advise.None || f.Group == advise.Measurement {
			t.wrapped(f.Title + ": " + f.Do)
			break
		}
	}
}

// based says so when gains are taken from a window without what recording cost.
func (t *text) based(a *advise.Advice) {
	if a.BaseBy == "" && a.Base < a.Window {
		t.line("gains are of %s, without work from before recording", tables.Duration(a.Base))
	}
	for i := range a.Findings {
		switch f := &a.Findings[i]; {
		case f.ID != a.BaseBy:
		case f.Group == advise.Note:
			t.line("gains are of %s, the window without what recording costs", tables.Duration(a.Base))
		default:
			t.line("%s", Shorten(fmt.Sprintf("gains are of %s, without what is no gain: %s", tables.Duration(a.Base), Plain(f.Saw)), t.width))
		}
	}
}

// together sums up by a replay, never by adding.
func (t *text) together(a *advise.Advice, shown int) {
	t.line("%s", Shorten(remains(a), t.width))
	if more := len(a.Findings) - shown; more > 0 {
		t.line("why, and %d more: overlay advise", more)
	} else {
		t.line("why: overlay advise")
	}
}

// remains says what is left of the window, at usual speed, with everything changed. Of a run without devices nothing is left without the CPU, which
// says nothing: it would wait for others all the same.
func remains(a *advise.Advice) string {
	n := len(a.Top(len(a.Findings)))
	all := []string{"this", "this", "both", "all " + tables.Plain(int64(n))}[min(n, 3)]
	s := fmt.Sprintf("if %s were done: %s%s%s, %s faster", all, tables.Duration(a.Base), tables.Arrow, tables.Duration(a.Together), tables.WholePercent(a.Base-a.Together, max(a.Base, 1)))
	if a.Floor > 0 {
		s += "; if the CPU alone took no time: " + tables.Duration(a.Floor)
	}
	return s
}

// WriteText writes all findings with their evidence.
func (a *Advice) WriteText(w io.Writer, o TextOptions) error {
	t := newText(w, o, nil)
	t.names = a.Names
	t.line("%s", t.bold(Shorten(Plain(a.Input), t.width)))
	t.para(fmt.Sprintf("window %s (%s), %s", tables.Duration(a.Window.Duration), Shorten(a.Window.name(), t.width-40), a.Says))
	for _, s := range append([]string{a.Device}, a.Doubts...) {
		t.para(s)
	}
	t.wholeAdvice(a)
	return t.w.Flush()
}

// wholeAdvice prints all that was found in one trace.
func (t *text) wholeAdvice(a *Advice) {
	if a.Advice == nil {
		t.line("")
		t.para("no advice: the input is a slim trace, or the method has a window of its own. Advice needs the whole trace, and the exact method's window.")
		return
	}
	t.based(a.Advice)
	if len(a.Advice.Top(1)) == 0 {
		t.line("")
		t.line("nothing found above 1 %% of the window (%d rules)", a.Advice.Rules)
	}
	for i := range a.Advice.Findings {
		if f := &a.Advice.Findings[i]; f.PartOf == "" {
			t.finding(f)
		}
	}
	t.alsoFound(a.Advice)
	if a.Roofline != nil && len(a.Roofline.Kernels) > 0 {
		s := rooflineOf(tables.From("roofline", "", a.Roofline), a.Names)
		s.Title = "How close operators come to the device's peak"
		t.section(s, cardRows)
	}
	t.unknowns(a.Advice)
}

// finding prints one finding in full.
func (t *text) finding(f *advise.Finding) {
	t.line("")
	gain := "no gain by itself"
	if f.Kind != advise.None {
		gain = fmt.Sprintf("%s, %s", gainShare(f), tables.Duration(f.Gain))
	}
	t.line("%s", t.bold(Shorten(gain+"  "+Plain(f.Title), t.width)))
	say := func(label, s string) {
		if s == "" {
			return
		}
		for i, l := range wrapText(Plain(s), t.width-13) {
			if i > 0 {
				label = ""
			}
			t.line("  %-10s %s", label, l)
		}
	}
	if len(f.Ranks) > 0 {
		say("where", f.Saw)
	}
	for _, l := range f.Lines {
		say("where", fmt.Sprintf("%s: %s in %s", l.Line, tables.Duration(l.NS), tables.Counted(l.Count, "slice")))
	}
	say("why", f.Cause)
	var numbers []string
	for i := range f.Numbers {
		n := f.Numbers[i]
		if n.Name == "in them" && i > 0 && f.Numbers[i-1].Count == 1 {
			n.Name = "in it"
		}
		numbers = append(numbers, numberText(&n))
	}
	say("measured", strings.Join(numbers, ", "))
	for i, s := range f.Action {
		say([]string{"do", "or", "or", "or"}[min(i, 3)], s)
	}
	say("sure", string(f.Confidence)+": "+f.Why)
	replayed := f.Scenario
	if f.Group == advise.General && f.Gain != f.Alone {
		replayed += fmt.Sprintf(", after all that stands above; alone it gains %s", tables.Duration(f.Alone))
	}
	say("replayed", replayed)
	say("after", f.Verify)
	for i := range f.Examples {
		x := &f.Examples[i]
		s := fmt.Sprintf("event %d at +%s, %s", x.Event, tables.Duration(x.At), tables.Duration(x.NS))
		if x.Expected >= 0 {
			s += ", expected " + tables.Duration(x.Expected)
		}
		say("example", s+": "+Shorten(Plain(t.names.Readable(x.Name)), max(t.width-18-len(s), 10)))
	}
	say("rule", f.ID)
}

// numberName is how many letters of the name of a number are shown: kernels have names of hundreds.
const numberName = 60

// numberText is a number with its name.
func numberText(n *advise.Number) string {
	name := Shorten(n.Name, numberName)
	switch {
	case n.NS != 0:
		return name + " " + tables.Duration(n.NS)
	case n.Bytes != 0:
		return name + " " + tables.FormatBytes(n.Bytes)
	}
	if n.Count == 1 {
		name = singular(name)
	}
	return tables.Grouped(n.Count) + " " + name
}

// singular is the name of several things, of one of them: its first plural is made the singular.
func singular(name string) string {
	words := strings.Split(name, " ")
	for i, w := range words {
		switch {
		case w == "of" || w == "that" || w == "by": // it goes on about what was counted before
			return name
		case strings.HasSuffix(w, "ies"):
			w = strings.TrimSuffix(w, "ies") + "y"
		case strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"):
			w = strings.TrimSuffix(w, "es")
		case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
			w = strings.TrimSuffix(w, "s")
		default:
			continue
		}
		words[i] = w
		break
	}
	return strings.Join(words, " ")
}

// alsoFound prints what is not a finding: everything together, and what is too small.
func (t *text) alsoFound(a *advise.Advice) {
	var say, parts []string
	if a.Together < a.Base { // else nothing gains
		say = append(say, remains(a))
	}
	titles := map[string]string{}
	for i := range a.Findings {
		f := &a.Findings[i]
		if titles[f.ID] = f.Title; f.PartOf != "" { // the larger one stands before it
			parts = append(parts, fmt.Sprintf("%s, %s (of: %s)", f.Title, gainShare(f), titles[f.PartOf]))
		}
	}
	if len(parts) > 0 {
		say = append(say, "found too, but mostly time of a larger finding: "+strings.Join(parts, "; "))
	}
	t.below(append(say, small(a.Below)...))
}

// small says what is too small to be listed.
func small(below []advise.Below) (say []string) {
	var parts []string
	for _, b := range below {
		if math.Abs(b.Share) >= 0.0005 { // else it reads 0.0 %
			parts = append(parts, b.Title+", "+signedPercent(b.Share))
		}
	}
	if len(parts) > 0 {
		say = append(say, "too small to list: "+strings.Join(parts, "; "))
	}
	return say
}

// below prints sentences below the findings.
func (t *text) below(say []string) {
	if len(say) > 0 {
		t.line("")
	}
	for _, s := range say {
		t.para(s)
	}
}

// unknowns prints what the trace cannot tell.
func (t *text) unknowns(a *advise.Advice) {
	if len(a.Unknown) == 0 {
		return
	}
	t.head("what the trace cannot tell")
	for _, u := range a.Unknown {
		for i, l := range wrapText(u.What+": "+u.Record, t.width-4) {
			t.line("%s%s", []string{"  ", "    "}[min(i, 1)], l)
		}
	}
}
