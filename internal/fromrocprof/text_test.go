package fromrocprof_test

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"overlay/internal/fromrocprof"
	"overlay/internal/kineto"
	"overlay/internal/testtrace/reported"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestText: documents in, text out. testdata/text.txt has each document, and below it the text of the trace or of its processes.
func TestText(t *testing.T) {
	reported.Texts(t, "testdata/text.txt", *update, func(t *testing.T, name string, in []byte) string {
		to, o := &spool{}, kineto.Options{}
		_, err := fromrocprof.Parse(in, "t.json", o, kineto.NewSink(to, o))
		var several *kineto.Several
		switch {
		case errors.As(err, &several):
			for i := range several.Parts {
				p, part := &several.Parts[i], &spool{}
				if _, err := p.Write(kineto.NewSink(part, o)); err != nil {
					t.Fatal(err)
				}
				to.b = fmt.Appendf(to.b, "%s of %s: %s", p.PID, p.Name, part.b)
			}
		case err != nil:
			to.b = fmt.Appendln(nil, "error:", err)
		}
		return string(to.b)
	})
}

// TestIs: a document is told by its only key, which white space may surround, and by nothing shorter.
func TestIs(t *testing.T) {
	const key = `"rocprofiler-sdk-tool"`
	for text, want := range map[string]bool{
		"{" + key: true, " \r\n{\t" + key + ":": true, "": false, " ": false, "{": false, key: false, "[" + key: false, `{"rocprofiler"`: false, "{" + strings.Repeat(" ", 63) + key: false,
	} {
		if got := fromrocprof.Is([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
