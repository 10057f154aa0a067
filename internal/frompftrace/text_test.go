package frompftrace_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"overlay/internal/frompftrace"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/reported"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestText: packets in, text out. testdata/text.txt has a packet a line, with the numbers that Perfetto gives its fields, and below each list of packets the text of the trace and what was mended, with the offsets of the first few.
func TestText(t *testing.T) {
	reported.Texts(t, "testdata/text.txt", *update, func(t *testing.T, name string, in []byte) string {
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(in)), "\n"), func(s string) bool { return s[0] == '#' })
		var got strings.Builder
		o := kineto.Options{Cut: strings.Contains(name, "cut"), Strict: strings.Contains(name, "strict")}
		to := &spool{}
		tr, err := frompftrace.Parse(packets(t, lines...), "t.pftrace", o, kineto.NewSink(to, o))
		if err != nil {
			fmt.Fprintln(&got, "error:", err)
		} else {
			got.Write(to.b)
			for _, r := range tr.Repairs {
				fmt.Fprintf(&got, "repair: %s %d %v\n", r.Reason, r.Count, r.First)
			}
		}
		return got.String()
	})
}

// packets are the packets of lines of text.
func packets(t *testing.T, lines ...string) []byte {
	var list []pb
	for _, line := range lines {
		list = append(list, pb(testtrace.Message(t, line)))
	}
	return file(list...)
}

// TestLongNames: a name that is sent once and used by many events may not make a long text of a short file.
func TestLongNames(t *testing.T) {
	lines := []string{`10:1 13:1 12:{2:{1:1 2:"` + strings.Repeat("N", 1000) + `"}}`}
	for range 9000 { // more than two workers write at a time
		lines = append(lines, `8:5 10:1 11:{9:3 10:1}`)
	}
	src := packets(t, lines...)
	tr, err := read(t, src, kineto.Options{})
	if err != nil || len(tr.Events) < 9000 {
		t.Fatal(err)
	}
	if _, err := read(t, src, kineto.Options{MaxExpand: 1 << 20}); err == nil || !strings.Contains(err.Error(), "max-expand") {
		t.Errorf("error %v", err)
	}
}

// TestGlance: what is told of a trace that may end anywhere: numbers among its attributes, and processes with events of a colour.
func TestGlance(t *testing.T) {
	src := packets(t, `126:{1:{1:"other" 2:4} 1:{1:"n" 3:"text"} 1:{1:"n" 2:5}}`,
		`60:{1:1 3:{1:9 6:"python (rank 1)"}}`, `60:{1:2 5:1 4:{1:9 2:10}}`, `60:{1:3 3:{1:10 6:"python (rank 0)"}}`, `60:{1:4 5:3 2:"a"}`, `60:{1:5 5:4 2:"b"}`,
		`60:{1:6 3:{1:11 6:"python (rank 2)"}}`, `60:{1:7 5:8}`, `60:{1:8 5:7}`, `60:{1:9 2:"root"}`,
		`10:1 13:1 12:{43:{1:1 2:"red"} 43:{1:2 2:"blue"}}`,
		`8:1 10:1 11:{9:3 11:2 54:2}`, `8:1 10:1 11:{9:3 11:2 4:{10:"a" 4:1} 54:1}`, `8:1 10:1 11:{9:3 11:2 54:1}`, `8:1 10:1 11:{9:3 11:5 54:1}`, `8:1 10:1 11:{9:3 11:6 54:2}`,
		`8:1 10:1 11:{9:3 11:7 54:1}`, `8:1 10:1 11:{9:3 11:9 54:1}`, `8:1 10:1 11:{9:3 11:6}`, `8:1 10:1 53:{1:1}`)
	g := frompftrace.GlanceAt(src[:len(src)-1], "red")
	if got := strings.Join(g.Processes, ", "); got != "python (rank 0), python (rank 1)" {
		t.Errorf("processes %s", got)
	}
	if n, ok := g.Int("n"); n != 5 || !ok {
		t.Errorf("%d %v", n, ok)
	}
	if _, ok := g.Int("text"); ok {
		t.Error("an attribute that is not there")
	}
}

// TestUnjoined: a slim trace of this program whose events lost what joins calls with kernels is told from others.
func TestUnjoined(t *testing.T) {
	for _, c := range []struct {
		attribute, arg string
		want           bool
	}{
		{`1:"overlay.slim" 2:1`, `10:"grid" 4:1`, true},
		{`1:"overlay.slim" 2:1`, `10:"correlation" 4:1`, false},
		{`1:"overlay.slim" 2:1`, `10:"External id" 4:1`, false},
		{`1:"overlay.slim" 2:2`, `10:"grid" 4:1`, false},
		{`1:"other" 2:1`, `10:"grid" 4:1`, false},
	} {
		src := packets(t, `126:{1:{`+c.attribute+`}}`, `60:{1:5 3:{1:9} 4:{1:9 2:10}}`, `8:1 10:1 11:{9:1 11:5 22:"kernel" 4:{`+c.arg+`}}`, `8:2 10:1 11:{9:2 11:5}`,
			`8:3 10:1 11:{9:3 11:5 22:"kernel" 4:{10:"correlation" 4:1}}`)
		tr, err := read(t, src, kineto.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := frompftrace.Unjoined(tr); got != c.want {
			t.Errorf("%s, %s: %v", c.attribute, c.arg, got)
		}
		if frompftrace.Unjoined(testtrace.Parse(t, kineto.TextOf(tr).Src)) {
			t.Errorf("%s: its text as JSON is taken for the file", c.attribute)
		}
	}
}
