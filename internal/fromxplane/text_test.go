package fromxplane_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"overlay/internal/fromxplane"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/reported"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestText: planes in, text out. testdata/text.txt has files with the numbers of their fields, and below each the text of its trace.
func TestText(t *testing.T) {
	reported.Texts(t, "testdata/text.txt", *update, func(t *testing.T, name string, in []byte) string {
		to, o := &spool{}, kineto.Options{}
		if _, err := fromxplane.Parse(testtrace.Message(t, string(in)), "t.xplane.pb", o, kineto.NewSink(to, o)); err != nil {
			to.b = fmt.Appendln(nil, "error:", err)
		}
		return string(to.b)
	})
}

// TestIs: the first message is a plane with a number at most and a readable name; the rest may be cut.
func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		`1:{1:7 2:"/host:CPU"}`: true, `1:{2:"!"}`: true, `1:{2:"~"}`: true, `1:{2:""}`: false, `1:{2:" x"}`: false, `1:{2:"\x7fx"}`: false, `1:{2:"a\xff"}`: false, `1:{1:"7" 2:"a"}`: false,
		`1:{1:7 1:7 2:"a"}`: false, `1:{3:7 2:"a"}`: false, `1:{2:7}`: false, `1:{1:7 2:7}`: false, `1:{1:7}`: false, `2:{2:"a"}`: false, `1:7 2:"a"`: false, `1:{2:"` + strings.Repeat("n", 200) + `"}`: true,
	} {
		if got := fromxplane.Is(testtrace.Message(t, text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	whole := testtrace.Message(t, `1:{1:300 2:"/host:CPU" 3:{1:1}}`)
	for n := range whole {
		if got := fromxplane.Is(whole[:n]); got != (n >= len(whole)-4) {
			t.Errorf("%d bytes: %v", n, got)
		}
	}
}
