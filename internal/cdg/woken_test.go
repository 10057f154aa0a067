package cdg_test

import (
	"strconv"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
)

const (
	acquire = "<built-in~method~acquire~of~_thread.lock~object~at~0x1>"
	release = "<built-in~method~release~of~_thread.lock~object~at~0x1>"
)

// feeding is a thread that waits in a frame from 1,020 to 9,000 µs for what another one does until 6,990.
func feeding(waits, wakes string) string {
	return `
frame 1 train.py(5):~step 0 12000
op 1 aten::x 10 1000
frame 1 ` + waits + ` 1020 7980
op 1 aten::y 9010 2900
frame 2 train.py(20):~produce 0 12000
frame 2 <built-in~function~sleep> 10 6900
frame 2 ` + wakes + ` 6985 5
`
}

// A thread that was let go on may have to wait for the interpreter, which another one keeps for up to 5 ms; and what that one did before is its own
// time, also where no border shows it at work.
func TestFedByThread(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a lock", feeding(acquire, release), "release of _thread.lock"},
		{"a queue of C", feeding("<built-in~method~get~of~_queue.SimpleQueue~object~at~0x1>", "<built-in~method~put~of~_queue.SimpleQueue~object~at~0x1>"), "put of _queue.SimpleQueue"},
		{"the loop of asyncio", feeding("<built-in~method~poll~of~select.epoll~object~at~0x1>", "<built-in~method~send~of~socket~object~at~0x1>"), "send of socket"},
		{"a lock of another kind", feeding(acquire, "<built-in~method~put~of~_queue.SimpleQueue~object~at~0x1>"), ""},
		{"longer ago", strings.ReplaceAll(feeding(acquire, release), " 6985 5", " 3900 5"), ""},
		{"let go to wait itself", feeding(acquire, release) + "frame 2 threading.py(322):~_release_save 6980 20\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := pathText(t, testtrace.Lines(t, c.text), cdg.Options{})
			edge := strings.Contains(got, "critical_path_thread_handoff") && strings.Contains(got, c.want)
			slept := strings.Contains(got, "<built-in function sleep>")
			if edge != (c.want != "") || slept != (c.want != "") {
				t.Errorf("hand-off %v, the sleep of the other thread on the path %v, want %q\n%s", edge, slept, c.want, got)
			}
		})
	}
}

// Two threads whose hand-offs are recorded may take turns by chance: neither is let go on by what the other one ends.
func TestTurnsByChance(t *testing.T) {
	var sb strings.Builder
	sb.WriteString("frame 1 train.py(5):~step 0 50000\nframe 2 train.py(20):~produce 0 50000\nframe 2 " + release + " 20 5\n")
	for i := range 30 {
		at := 1000 * (i + 1)
		for l, what := range [...]string{"aten::x", "aten::y"} {
			sb.WriteString(strings.NewReplacer("L", string(rune('1'+l)), "N", what, "T", strconv.Itoa(at+500*l)).Replace("op L N T 200\n"))
		}
	}
	if got := pathText(t, testtrace.Lines(t, sb.String()), cdg.Options{}); strings.Contains(got, "critical_path_thread_handoff") {
		t.Error(got)
	}
}
