package testtrace

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
)

// Answered is the questions asked of one program.
type Answered struct {
	Class     string
	Seed      uint64
	Records   bool // with cuda_sync records
	Questions []Question
	Err       error
}

// AskPrograms asks n programs of the classes in turn, each with records of synchronisation and without, on all cores.
func AskPrograms(n int, seed uint64, classes []string) []Answered {
	out := make([]Answered, 2*n)
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			var j Judge
			for i := w; i < len(out); i += workers {
				s := seed + uint64(i/2)
				a := Answered{Class: classes[i/2%len(classes)], Seed: s, Records: i%2 == 0}
				p := Random(a.Class, s)
				p.SyncRecords = a.Records
				a.Questions, a.Err = j.AskAll(p, s)
				out[i] = a
			}
		})
	}
	wg.Wait()
	return out
}

// Errors are the errors of a group of predictions, as shares of the true window.
type Errors struct {
	Questions             int
	Mean, P95, Worst      float64 // of the replay
	Within                float64 // share of questions within 5 %
	ShareMean, ShareWorst float64 // of the share of the path
	ShareWithin           float64
	NoChange              float64 // mean of the prediction that nothing changes
}

// SumErrors sums up questions; there has to be one.
func SumErrors(list []*Question) Errors {
	var e Errors
	off := make([]float64, 0, len(list))
	n := float64(len(list))
	for _, q := range list {
		x, s := q.Off(q.Predicted), q.Off(q.Share)
		off = append(off, x)
		e.Mean, e.ShareMean, e.NoChange = e.Mean+x/n, e.ShareMean+s/n, e.NoChange+q.Off(q.Recorded)/n
		e.Worst, e.ShareWorst = max(e.Worst, x), max(e.ShareWorst, s)
		if x <= 0.05 {
			e.Within += 1 / n
		}
		if s <= 0.05 {
			e.ShareWithin += 1 / n
		}
	}
	slices.Sort(off)
	e.Questions, e.P95 = len(list), off[min(len(off)-1, len(off)*95/100)]
	return e
}

// WriteWhatIf prints how well replays predict, by question, by class and by records of synchronisation, and the worst.
func WriteWhatIf(w io.Writer, all []Answered, worst int) {
	fmt.Fprintf(w, "%-32s %9s %10s %16s %7s %7s %7s %8s %8s\n", "questions", "number", "no change", "share (worst)", "replay", "p95", "worst", "in 5 %", "(share)")
	line := func(name string, take func(a *Answered, q *Question) bool) {
		var list []*Question
		for i := range all {
			for k := range all[i].Questions {
				if q := &all[i].Questions[k]; take(&all[i], q) {
					list = append(list, q)
				}
			}
		}
		if len(list) == 0 {
			return
		}
		e := SumErrors(list)
		fmt.Fprintf(w, "%-32s %9d %8.1f %% %6.2f %% (%4.0f) %5.2f %% %5.2f %% %5.1f %% %6.1f %% %6.1f %%\n", name, e.Questions, 100*e.NoChange,
			100*e.ShareMean, 100*e.ShareWorst, 100*e.Mean, 100*e.P95, 100*e.Worst, 100*e.Within, 100*e.ShareWithin)
	}
	const slower = "kernels x 2"
	line("all but slow-downs", func(_ *Answered, q *Question) bool { return q.Kind != slower })
	line("  with records of sync", func(a *Answered, q *Question) bool { return q.Kind != slower && a.Records })
	line("  with good confidence", func(_ *Answered, q *Question) bool { return q.Kind != slower && q.Sure })
	line("  without", func(a *Answered, q *Question) bool { return q.Kind != slower && !a.Records })
	var kinds, classes []string
	failed := 0
	for i := range all {
		if all[i].Err != nil {
			failed++
		}
		if !slices.Contains(classes, all[i].Class) {
			classes = append(classes, all[i].Class)
		}
		for k := range all[i].Questions {
			if kind := all[i].Questions[k].Kind; !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		line(kind, func(_ *Answered, q *Question) bool { return q.Kind == kind })
	}
	for _, class := range classes {
		line("class "+class, func(a *Answered, q *Question) bool { return a.Class == class && q.Kind != slower })
	}
	type bad struct {
		a *Answered
		q *Question
	}
	var list []bad
	for i := range all {
		for k := range all[i].Questions {
			list = append(list, bad{&all[i], &all[i].Questions[k]})
		}
	}
	slices.SortStableFunc(list, func(x, y bad) int { return cmp.Compare(y.q.Off(y.q.Predicted), x.q.Off(x.q.Predicted)) })
	fmt.Fprintf(w, "%d programs, %d not analysed\n", len(all)/2, failed)
	for _, x := range list[:min(worst, len(list))] {
		records, sure := "without records", ""
		if x.q.Sure {
			sure = ", sure"
		}
		if x.a.Records {
			records = "with records"
		}
		fmt.Fprintf(w, "%5.1f %%  %s %d %s, %s %s: recorded %d, true %d, predicted %d%s\n", 100*x.q.Off(x.q.Predicted), x.a.Class, x.a.Seed, records,
			x.q.Kind, x.q.Name, x.q.Recorded, x.q.Truth, x.q.Predicted, sure)
	}
}
