package cdg_test

import (
	"fmt"
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

// A thread of Python may have to wait for the interpreter in any frame: as long as another one computes that then waits, or for an interval of 5 ms.
func TestKeptByThread(t *testing.T) {
	const linear, sleep = "<built-in~function~linear>", "<built-in~function~sleep>"
	kept := func(until, computes int, waits string, short int) string {
		text := "frame 1 " + release + " 700 5\nframe 2 " + waits + " 0 720\n" + "frame 1 train.py(5):~step 0 21000\nframe 2 train.py(20):~produce 0 20000\n"
		for i := range short {
			text += "frame 1 " + linear + " " + strconv.Itoa(100+20*i) + " 5\n"
		}
		return text + fmt.Sprintf("frame 1 %s 1000 %d\nop 1 aten::y %d %d\nframe 2 train.py(30):~augment 900 %d\nframe 2 %s %d %d\n",
			linear, until-1000, until+5, 20_900-until, computes-900, waits, computes, 20_000-computes)
	}
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"until it waits", kept(5500, 5450, acquire, 10), true},
		{"for an interval", kept(6100, 9000, acquire, 10), true},
		{"while it goes on, for less", kept(5500, 9000, acquire, 10), false},
		{"and goes on much later", kept(5500, 5000, acquire, 10), false},
		{"which waits for nobody", kept(5500, 5450, sleep, 10), false},
		{"in a frame that takes as long as a rule", kept(5500, 5450, acquire, 0), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := pathText(t, testtrace.Lines(t, c.text), cdg.Options{})
			if handed := strings.Contains(got, "train.py(30): augment"); handed != c.want {
				t.Errorf("the other thread is on the path: %v, want %v\n%s", handed, c.want, got)
			}
		})
	}
}
