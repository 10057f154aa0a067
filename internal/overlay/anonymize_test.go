package overlay_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"overlay/internal/kineto"
	"overlay/internal/overlay"
)

var (
	pathText  = regexp.MustCompile(`[\w.@+-]*(/[\w.@+-]+)+|[\w-]+\.py\b`)
	tokenText = regexp.MustCompile(`[\w-]+`)
	frameText = regexp.MustCompile(`\(\d+\): ([\w<>]+)$`)
)

// secrets collects from a trace what must not be in its anonymous form: parts of paths, names of functions of
// Python, values of top-level texts and thread and process names.
func secrets(tr *kineto.Trace) map[string]bool {
	out := map[string]bool{}
	path := func(s string) {
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
		if e.Kind == kineto.Python {
			name := tr.Name(kineto.EventID(i))
			path(name)
			if m := frameText.FindStringSubmatch(name); m != nil && len(m[1]) > 3 {
				out[m[1]] = true
			}
		}
		if e.Args > 0 {
			path(string(tr.Raw(kineto.EventID(i))[e.Args:]))
		}
	}
	for _, f := range tr.Fields {
		if f.Key == "displayTimeUnit" || f.Key == "deviceProperties" || f.Key == "distributedInfo" {
			continue
		}
		for _, tok := range tokenText.FindAllString(string(tr.Src[f.Off:f.Off+f.Len]), -1) {
			if len(tok) > 3 && strings.ContainsAny(strings.ToLower(tok), "abcdefghijklmnopqrstuvwxyz") {
				out[tok] = true // keys of what others add, too
			}
		}
	}
	return out
}

// harmless are tokens that stay for other reasons: names of ops, calls and kernels, and keys.
func harmless(tr *kineto.Trace) map[string]bool {
	out := map[string]bool{}
	add := func(s string) {
		for _, tok := range tokenText.FindAllString(s, -1) {
			out[tok] = true
		}
	}
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Kind.Device() || e.Kind.Call() || e.Kind == kineto.CPUOp {
			add(tr.Name(kineto.EventID(i)))
		}
		add(tr.Category(kineto.EventID(i)))
		if e.Args > 0 {
			var args map[string]json.RawMessage
			if json.Unmarshal(tr.Raw(kineto.EventID(i))[e.Args:e.Len-1], &args) == nil {
				for k := range args {
					add(k)
				}
				add(string(args["Input type"]))
				add(string(args["kernel"]))
			}
		}
	}
	for _, f := range tr.Fields {
		add(f.Key)
		if f.Key == "deviceProperties" || f.Key == "distributedInfo" {
			add(string(tr.Src[f.Off : f.Off+f.Len]))
		}
	}
	// Words of our own rows and of the profiler that logs and environments use as well.
	add("wait copy zero_grad graph runtime Traces events Record CUPTI MTIA with False True compute kind null segments node")
	add("name args tid pid PyTorch Profiler process thread file critical_path python stream forward backward step loss data event")
	return out
}

// TestAnonymous looks for every secret of the input in both forms of the anonymous output.
func TestAnonymous(t *testing.T) {
	traces(t, func(t *testing.T, tr *kineto.Trace) {
		g, p, _ := annotate(t, tr, overlay.Options{})
		g2, p2 := overlay.Anonymize(g, p)
		ov := overlay.Annotate(g2.Layout, p2, overlay.Options{})
		out, _ := write(t, g2.Trace, ov)
		var pf bytes.Buffer
		if _, err := overlay.WritePerfetto(&pf, g2.Trace, ov, overlay.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		plain := harmless(tr)
		var wanted []string
		for s := range secrets(tr) {
			if !plain[s] {
				wanted = append(wanted, s)
			}
		}
		slices.Sort(wanted)
		for _, form := range [][]byte{out, pf.Bytes()} {
			found := map[string]bool{}
			for _, tok := range tokenText.FindAll(form, -1) {
				found[string(tok)] = true
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
		same, err := kineto.Parse(out, "", kineto.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range tr.Events {
			a, b := &tr.Events[i], &same.Events[i]
			if ov.Keep == nil && (a.Start != b.Start || a.Dur != b.Dur || a.Ph != b.Ph || a.Kind != b.Kind || a.Flags&kineto.HasCorr != b.Flags&kineto.HasCorr || a.Kind != kineto.KindOther && a.Corr != b.Corr) {
				t.Fatalf("event %d: %s became %s", i, tr.Raw(kineto.EventID(i)), same.Raw(kineto.EventID(i)))
			}
		}
		t.Logf("%d secrets", len(wanted))
	})
}
