package anonymize_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"overlay/internal/analyses"
	"overlay/internal/anonymize"
	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/traceread"
	"overlay/internal/trace"
)

var (
	pathText  = regexp.MustCompile(`[\w.@+-]*(/[\w.@+-]+)+|[\w-]+\.py\b`)
	tokenText = regexp.MustCompile(`[\w-]+`) // as isWord
	frameText = regexp.MustCompile(`\(\d+\): ([\w<>]+)$`)
)

func isWord(r byte) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '_' || r == '-'
}

// secrets collects from a trace what must not be in its anonymous form: parts of paths, names of functions of
// Python, values of top-level texts and thread and process names.
func secrets(tr *trace.Trace) map[string]bool {
	out := map[string]bool{}
	path := func(s string) {
		if !strings.Contains(s, "/") && !strings.Contains(s, ".py") {
			return // no match: most args are numbers, and there are many
		}
		for _, p := range pathText.FindAllString(s, -1) {
			for _, part := range strings.Split(p, "/") {
				part = strings.TrimSuffix(part, ".py")
				if len(part) > 3 && strings.ContainsAny(strings.ToLower(part), "abcdefghijklmnopqrstuvwxyz") {
					for _, tok := range tokenText.FindAllString(part, -1) {
						if len(tok) > 3 {
							out[tok] = true
						}
					}
				}
			}
		}
	}
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Kind == trace.Python {
			name := tr.Name(trace.EventID(i))
			path(name)
			if m := frameText.FindStringSubmatch(name); m != nil && len(m[1]) > 3 {
				out[m[1]] = true
			}
		}
		if e.Flags&trace.HasArgs != 0 {
			path(string(argsText(tr, i)))
		}
	}
	for _, f := range kineto.TextOf(tr).Fields {
		if f.Key == "displayTimeUnit" || f.Key == "deviceProperties" || f.Key == "distributedInfo" {
			continue
		}
		for _, tok := range tokenText.FindAllString(string(kineto.TextOf(tr).Src[f.Off:f.Off+f.Len]), -1) {
			if len(tok) > 3 && strings.ContainsAny(strings.ToLower(tok), "abcdefghijklmnopqrstuvwxyz") {
				out[tok] = true // keys of what others add, too
			}
		}
	}
	return out
}

// argsText is the args object of an event as it is written.
func argsText(tr *trace.Trace, i int) []byte {
	raw, at := kineto.TextOf(tr).Append(nil, trace.EventID(i))
	return raw[at : len(raw)-1]
}

// harmless are tokens that stay for other reasons: words that Kineto and overlays write.
func harmless(tr *trace.Trace) map[string]bool {
	out := map[string]bool{}
	add := func(s string) {
		for _, tok := range tokenText.FindAllString(s, -1) {
			out[tok] = true
		}
	}
	for i := range tr.Events {
		add(tr.Category(trace.EventID(i)))
	}
	for _, f := range kineto.TextOf(tr).Fields {
		add(f.Key)
	}
	// Words of our own rows and of the profiler that logs and environments use as well.
	add("wait copy zero_grad graph runtime Traces events Record CUPTI MTIA with False True compute kind null segments node")
	add("overlay name args tid pid recorded PyTorch Profiler process thread file critical_path python stream forward backward step loss data event")
	return out
}

// TestAnonymous looks for every secret of the input in both forms of the anonymous output, and for the path of the input.
func TestAnonymous(t *testing.T) {
	testtrace.Subjects(t, func(t *testing.T, tr *trace.Trace) {
		g, p, ok := testtrace.Analyse(t, tr)
		if !ok {
			t.Skip("nothing to analyse")
		}
		g2, p2, err := anonymize.Graph(g, p)
		if err != nil {
			t.Fatal(err)
		}
		ov := overlay.Annotate(g2.Layout(), p2, overlay.Options{})
		var js, pf bytes.Buffer
		if _, err := chromejson.Write(&js, g2.Trace, ov); err != nil {
			t.Fatal(err)
		}
		out := js.Bytes()
		if _, err := pftrace.Write(&pf, g2.Trace, ov); err != nil {
			t.Fatal(err)
		}
		plain := harmless(g2.Trace)
		var wanted []string
		for s := range secrets(tr) {
			if !plain[s] && !anonymize.IsKnown(s) {
				wanted = append(wanted, s)
			}
		}
		slices.Sort(wanted)
		for _, form := range [][]byte{out, pf.Bytes()} {
			found := map[string]bool{}
			for i := 0; i < len(form); i++ {
				begin := i
				for i < len(form) && isWord(form[i]) {
					i++
				}
				if tok := form[begin:i]; !found[string(tok)] {
					found[string(tok)] = true
				}
			}
			for _, s := range wanted {
				if found[s] {
					t.Errorf("%q is in the output", s)
				}
			}
		}
		if !json.Valid(out) {
			t.Error("output is no JSON")
		}
		same := testtrace.Parse(t, out)
		for i := range tr.Events {
			a, b := &tr.Events[i], &same.Events[i]
			if ov.Keep == nil && a.Ph != 0 && (a.Start != b.Start || tr.Dur(a) != same.Dur(b) || a.Ph != b.Ph || a.Kind != b.Kind || a.Flags&trace.HasCorr != b.Flags&trace.HasCorr || a.Kind != trace.KindOther && tr.Corr(a) != same.Corr(b)) {
				t.Fatalf("event %d: %s became %s", i, kineto.TextOf(tr).Raw(trace.EventID(i)), kineto.TextOf(same).Raw(trace.EventID(i)))
			}
		}
		t.Logf("%d secrets", len(wanted))
		samePath(t, g, p, g2, p2)
	})
}

// TestAnonymousAnalyses runs every analysis on the graph whose names are replaced, as --anonymize --analysis all does:
// times are those of the input.
func TestAnonymousAnalyses(t *testing.T) {
	demo, err := testtrace.Demo()
	if err != nil {
		t.Fatal(err)
	}
	tr, err := traceread.Read(bytes.NewReader(demo), "demo", kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, p, _ := testtrace.Analyse(t, tr)
	g2, p2, err := anonymize.Graph(g, p)
	if err != nil {
		t.Fatal(err)
	}
	want, got := analyses.Run(g, p, analyses.Names, analyses.Options{}), analyses.Run(g2, p2, analyses.Names, analyses.Options{})
	if len(want.Component) != 3 || len(got.Component) != len(want.Component) {
		t.Fatalf("%d steps, after replacing names %d", len(want.Component), len(got.Component))
	}
	for i := range want.Component {
		w, g := want.Component[i], got.Component[i]
		for k := range w.Operators {
			w.Operators[k].Name = ""
		}
		for k := range g.Operators {
			g.Operators[k].Name = ""
		}
		if !reflect.DeepEqual(w, g) {
			t.Errorf("step %d: %+v, after replacing names %+v", i, w, g)
		}
	}
	if !reflect.DeepEqual(want.Temporal, got.Temporal) || !reflect.DeepEqual(want.Idle, got.Idle) || !reflect.DeepEqual(want.Queue, got.Queue) {
		t.Error("replacing names changes times")
	}
}
