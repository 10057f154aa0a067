package jobjudge

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace/jobcheck"
)

// TestLarge: a large job in small is put together without a mistake.
func TestLarge(t *testing.T) {
	list := Large(32, 1)
	for _, s := range list {
		if err := s.Check(); err != nil || len(s.Ops) != LargeCollectives {
			t.Fatal(len(s.Ops), err)
		}
	}
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := jobcheck.Check(j); err != nil {
		t.Error(err)
	}
	if j.Matching.Complete != j.Matching.Instances || j.Matching.Unmatched > 0 {
		t.Errorf("%+v", j.Matching)
	}
}

// BenchmarkLarge puts many ranks with 2,200 collectives each together, and says what each takes, and how much memory the process held at most
// meanwhile, the summaries among it. Garbage is collected as often as the command does.
func BenchmarkLarge(b *testing.B) {
	for _, n := range []int{64, 256, 1024, 4096, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			list := Large(n, 1)
			defer debug.SetGCPercent(debug.SetGCPercent(5))
			b.ReportAllocs()
			for b.Loop() {
				debug.FreeOSMemory()
				resetPeak()
				j, err := ranks.Join(list, ranks.Options{Step: -1})
				if err != nil {
					b.Fatal(err)
				}
				replay.Judge(j, ranks.Expected{})
				b.ReportMetric(peakMegabytes(), "peak-MB")
			}
			b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N*n), "ms/rank")
			b.ReportMetric(peakMegabytes()/float64(n), "MB/rank")
		})
	}
}

// BenchmarkAskLarge asks one question of such a job, in whose summaries each collective has two chains, and says how much memory the process held at most
// from joining them on.
func BenchmarkAskLarge(b *testing.B) {
	list := Large(1024, 1)
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	debug.FreeOSMemory()
	resetPeak()
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		b.Fatal(err)
	}
	m, err := replay.New(j)
	if err != nil {
		b.Fatal(err)
	}
	all := replay.Changes([]replay.Change{{Factor: replay.Whole / 2, Work: func(_ string, w ranks.Work) bool { return !w.Host() }}})
	for b.Loop() {
		if a := m.Ask([]replay.Question{all})[0]; a.Saved <= 0 {
			b.Fatalf("%+v", a)
		}
	}
	b.ReportMetric(peakMegabytes(), "peak-MB")
}

// resetPeak forgets how much memory the process held at most, where the system can do that.
func resetPeak() { os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peakMegabytes is how much memory the process held at most; 0 where the system does not say.
func peakMegabytes() float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kib / 1000 * 1.024
		}
	}
	return 0
}
