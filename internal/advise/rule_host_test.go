package advise

import "testing"

// Where another thread runs Python while one has nothing of its own recorded, that one waits for the interpreter.
func TestHeldBack(t *testing.T) {
	for _, busy := range []bool{true, false} {
		s := newScene()
		s.b.Thread(100, 200, "logger")
		s.b.Slice("python_function", "log.py(5): write", 100, 200, 0, 20_000_000)
		for i := range int64(1999) {
			if busy {
				s.b.Slice("python_function", "<built-in method append of list object>", 100, 200, i*10_000+1000, 5000)
			}
		}
		s.b.Slice("python_function", "train.py(3): loop", 100, 100, 0, 25_000_000)
		for range 5 {
			s.slice("python_function", "<built-in function linear>", 4_000_000, func() { s.op("aten::mm", 100_000, nothing) })
		}
		f := adviseOn(t, s.b.Parse(t)).find("host-bound")
		if f == nil {
			t.Fatalf("busy %v: not found", busy)
		}
		if held := f.Title == "another thread holds Python's interpreter"; held != busy || busy && f.Do != "move what log.py(5): write does to a process" {
			t.Errorf("busy %v: %s: %s", busy, f.Title, f.Do)
		}
	}
}
