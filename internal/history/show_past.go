package history

import (
	"fmt"
	"io"
	"strings"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// Says is a series beside its past, in words.
func (p *Past) Says() string {
	return fmt.Sprintf("%s %s, %s (%s to %s expected of %s)", report.Plain(p.Words()), tables.Duration(p.Now), tables.SignedPercent(p.Percent), tables.Duration(p.Low), tables.Duration(p.High), tables.Counted(p.Runs, "run"))
}

// Line is the verdict in one line.
func (v *Verdict) Line() string {
	s := v.Run.Called() + ": "
	slower := v.Slower()
	switch {
	case v.Unlike:
		return s + "does not do the work of the runs before it: most of its time is in names that they do not have"
	case slower != nil:
		s += slower.Says()
	case len(v.Steps) == 0:
		return s + tooFew
	default:
		s += v.Steps[0].Says()
	}
	if len(v.Beyond) > 0 {
		s += "; " + v.Beyond[0].Says()
	}
	return s
}

// WriteText says how the run compares.
func (v *Verdict) WriteText(w io.Writer, _ report.TextOptions) error {
	var b strings.Builder
	b.WriteString(v.Line() + "\n")
	for i := range v.Beyond[min(1, len(v.Beyond)):] {
		if i == shown {
			fmt.Fprintf(&b, "  %d more: --json lists them\n", len(v.Beyond)-1-shown)
			break
		}
		b.WriteString("  " + v.Beyond[i+1].Says() + "\n")
	}
	if len(v.Beyond) == 0 && v.Series > 0 && v.Slower() == nil && !v.Unlike {
		fmt.Fprintf(&b, "  %d series compared, none beyond its own past\n", v.Series)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// VerdictDocument is a run beside its past for programs.
type VerdictDocument struct {
	Schema string `json:"schema"`
	Run    string `json:"run"`
	Start  int64  `json:"start_ns"`
	Slower bool   `json:"slower"`
	Unlike bool   `json:"unlike"`
	Series int    `json:"series_count"`
	Says   string `json:"says"`
	Steps  []Past `json:"steps"`
	Beyond []Past `json:"beyond"`
}

// WriteJSON writes the same for programs.
func (v *Verdict) WriteJSON(w io.Writer) error {
	return writeJSON(w, VerdictDocument{Schema, v.Run.Name, v.Run.Start, v.Slower() != nil, v.Unlike, v.Series, v.Line(), v.Steps, v.Beyond})
}
