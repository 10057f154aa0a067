package testtrace

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
)

// JudgeAll checks n random programs of the classes in turn, on all cores. The order of the verdicts is that of the seeds.
func JudgeAll(n int, seed uint64, classes []string) []Verdict {
	out := make([]Verdict, n)
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			var j Judge
			for i := w; i < n; i += workers {
				s := seed + uint64(i)
				out[i] = j.Check(Random(classes[i%len(classes)], s), s)
			}
		})
	}
	wg.Wait()
	return out
}

// Sum is the agreement of a group of programs.
type Sum struct {
	Name             string
	Programs, Failed int
	Agreement        float64 // mean over programs
	Least, Strict    float64
	Hit, Tried       int
	Ceiling, Ceiled  int
	Right, Claimed   int
	Found, Needed    int

	shares []float64 // of each program, in order of arrival
	exact  []float64 // of those in recordings as they should be
}

// Share of the window that agrees.
func (v *Verdict) Share() float64 {
	if v.Err != nil || v.Window == 0 {
		return 0
	}
	return float64(v.Agreed) / float64(v.Window)
}

// Add counts a verdict in.
func (s *Sum) Add(v *Verdict) {
	if s.Programs == 0 {
		s.Least = 1
	}
	s.Programs++
	if v.Err != nil {
		s.Failed++
	}
	s.Agreement += (v.Share() - s.Agreement) / float64(s.Programs)
	s.Strict += (float64(v.Strict)/float64(max(1, v.Window)) - s.Strict) / float64(s.Programs)
	s.Least = min(s.Least, v.Share())
	s.shares = append(s.shares, v.Share())
	if w := &v.Program.World; *w == (World{}) || *w == Worlds[0] {
		s.exact = append(s.exact, v.Share())
	}
	s.Hit, s.Tried = s.Hit+v.Hit, s.Tried+v.Tried
	s.Ceiling, s.Ceiled = s.Ceiling+v.Ceiling, s.Ceiled+v.Ceiled
	s.Right, s.Claimed = s.Right+v.Right, s.Claimed+v.Claimed
	s.Found, s.Needed = s.Found+v.Found, s.Needed+v.Needed
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// Counterfactual is the rate of counterfactuals that came true, as a share of the simulator's own.
func (s *Sum) Counterfactual() float64 {
	return ratio(s.Hit, s.Tried) / ratio(s.Ceiling, s.Ceiled)
}

// Hundredth is the mean agreement of the worst hundredth of the programs, at least of one.
func (s *Sum) Hundredth() float64 {
	shares := slices.Sorted(slices.Values(s.shares))
	n := max(1, len(shares)/100)
	sum := 0.0
	for _, x := range shares[:min(n, len(shares))] {
		sum += x
	}
	return sum / float64(n)
}

// Exact is the mean agreement of programs in recordings as they should be.
func (s *Sum) Exact() float64 {
	sum := 0.0
	for _, x := range s.exact {
		sum += x
	}
	return sum / float64(max(1, len(s.exact)))
}

// Precision and Recall are those of inferred dependencies on the path.
func (s *Sum) Precision() float64 { return ratio(s.Right, s.Claimed) }

// Recall is the share of true dependencies on the true path that were found.
func (s *Sum) Recall() float64 { return ratio(s.Found, s.Needed) }

// bare is said of programs of production without cuda_sync records.
const bare = ", bare"

// Groups sums verdicts: all, by class, and by what was drawn.
func Groups(all []Verdict) []Sum {
	sums := []Sum{{Name: "all"}}
	of := map[string]int{"all": 0}
	for _, name := range append(slices.Concat(Classes, Production), "sync records", "no sync records", "NVIDIA-like", "AMD-like", "strangers", "no strangers", "whole µs", "ns") {
		of[name] = len(sums)
		sums = append(sums, Sum{Name: name})
	}
	for _, class := range Production {
		of[class+bare] = len(sums)
		sums = append(sums, Sum{Name: class + bare})
	}
	for i := range Worlds {
		of[Worlds[i].Name] = len(sums)
		sums = append(sums, Sum{Name: Worlds[i].Name})
	}
	either := func(yes bool, a, b string) string {
		if yes {
			return a
		}
		return b
	}
	for i := range all {
		v := &all[i]
		p := v.Program
		for _, name := range []string{"all", p.Class, either(p.SyncRecords, "sync records", "no sync records"), either(p.AMD, "AMD-like", "NVIDIA-like"),
			either(slices.ContainsFunc(p.Threads, func(t threadProgram) bool { return t.background }), "strangers", "no strangers"), either(p.IntegerMicros, "whole µs", "ns"), p.World.Name, either(p.SyncRecords, "", p.Class+bare)} {
			if n, ok := of[name]; ok {
				sums[n].Add(v)
			}
		}
	}
	return sums
}

// WriteTable prints the groups and the worst programs.
func WriteTable(w io.Writer, all []Verdict, worst int) {
	fmt.Fprintf(w, "%-16s %8s %9s %8s %10s %8s %9s %8s %9s %7s %6s\n", "", "programs", "agreement", "strict", "worst 1 %", "least", "effect", "ceiling", "precision", "recall", "failed")
	for _, s := range Groups(all) {
		if s.Programs == 0 {
			continue
		}
		fmt.Fprintf(w, "%-16s %8d %8.2f%% %7.2f%% %9.1f%% %7.1f%% %9.3f %8.3f %9.3f %7.3f %6d\n", s.Name, s.Programs, 100*s.Agreement, 100*s.Strict, 100*s.Hundredth(), 100*s.Least,
			s.Counterfactual(), ratio(s.Ceiling, s.Ceiled), s.Precision(), s.Recall(), s.Failed)
	}
	writeLost(w, all)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].Share(), all[b].Share()) })
	fmt.Fprintln(w, "\nworst programs")
	for _, i := range order[:min(worst, len(order))] {
		v := &all[i]
		if v.Err != nil {
			fmt.Fprintf(w, "%s seed %d: %v\n", v.Program.Class, v.Seed, v.Err)
			continue
		}
		fmt.Fprintf(w, "%s seed %d: %.1f%% of %d ns, %d events\n    %s\n", v.Program.Class, v.Seed, 100*v.Share(), v.Window, v.Events, v.Worst)
		if v.MissedA != "" {
			fmt.Fprintf(w, "    wrong: %s\n", v.MissedA)
		}
		if v.MissedB != "" {
			fmt.Fprintf(w, "    missed: %s\n", v.MissedB)
		}
	}
}

// writeLost prints where agreement is lost: what the engine put where something else is true, as a share of all windows.
func writeLost(w io.Writer, all []Verdict) {
	lost := map[string]float64{}
	programs := map[string]int{}
	for i := range all {
		for what, ns := range all[i].Lost {
			lost[what] += float64(ns) / float64(all[i].Window) / float64(len(all))
			programs[what]++
		}
	}
	list := slices.SortedFunc(maps.Keys(lost), func(a, b string) int { return cmp.Or(cmp.Compare(lost[b], lost[a]), cmp.Compare(a, b)) })
	fmt.Fprintln(w, "\nwhere it is lost: found / true")
	for _, what := range list[:min(12, len(list))] {
		fmt.Fprintf(w, "%8.4f%% %6d  %s\n", 100*lost[what], programs[what], what)
	}
}
