package report

import (
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

// Highlights are what is most worth knowing: the advice, most gain first, and where it leaves room the largest hotspot.
func (r *Report) Highlights() []Finding {
	out := advised(r)
	if len(out) < TopFindings && len(r.Hotspots) > 0 {
		h := &r.Hotspots[0]
		text := tables.FormatShare(h.ShareOfWindow) + " of the window, in " + tables.Counted(h.Calls, "call") + "."
		switch {
		case h.Graph != "" && h.Operator == "":
			text += " It is " + h.Graph + "."
		case h.Caller != "":
			text += " It comes from " + Plain(h.Caller) + "."
		}
		out = append(out, Finding{ClassOf(h.Kind), h.NS, tables.Duration(h.NS), "on the path", Plain(h.Readable) + " is the largest hotspot", text})
	}
	return out
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

// TopFindings is how many findings a first screen has.
const TopFindings = 3
