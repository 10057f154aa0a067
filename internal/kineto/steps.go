package kineto

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/trace"
)

// stepWords are what programs call a step in ranges that they mark themselves, in small letters and without what separates words. A number
// follows; of those that are true there may be none. record_function, NVTX and roctx ranges of public training loops have these names:
// step_3, "Step 3", step=3, "Iteration: 3", iter3, train_step_3, training_step_3, batch_3, and train_step of each.
var stepWords = map[string]bool{
	"step": false, "steps": false, "iteration": false, "iter": false, "batch": false, "iterationstep": false, "trainiter": false, "trainingiteration": false,
	"trainstep": true, "trainingstep": true, "trainbatch": true, "trainingbatch": true, "runtrainingbatch": true,
}

// stepWord is the word and the number of a name of a step; the number is -1 without one, the word "" of other names.
func stepWord(name string) (word string, number int64) {
	start := strings.TrimRight(name, "0123456789")
	number = -1
	if start != name {
		n, err := strconv.ParseInt(name[len(start):], 10, 32)
		if err != nil {
			return "", -1
		}
		number = n
	}
	start = strings.TrimPrefix(start, "[pl][profile]") // PyTorch Lightning
	word = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-#:=", r) {
			return -1
		}
		return r
	}, strings.ToLower(start))
	if bare, known := stepWords[word]; !known || number < 0 && !bare {
		return "", -1
	}
	return word, number
}

// steps are the ranges of one word on one row.
type steps struct {
	events  []trace.EventID
	covered int64
}

// namedSteps makes steps of the ranges that a program marked as such, in a trace in which neither the profiler nor a server has marked any: those
// of the word that covers most, on threads that launch, two or more, one after the other and with numbers that rise.
func (t *draft) namedSteps() {
	type mark struct {
		word   string
		number int64
	}
	marks := map[trace.Sym]mark{}
	for s, name := range t.Syms {
		if trace.IsStep(name) || trace.IterationNamed(name) != trace.NoIteration {
			return
		}
		if word, number := stepWord(name); word != "" {
			marks[trace.Sym(s)] = mark{word, number}
		}
	}
	if len(marks) == 0 {
		return
	}
	type row struct {
		word  string
		track trace.TrackID
	}
	found := map[row]*steps{}
	launches, device := make([]bool, len(t.Tracks)), false
	for i := range t.Events {
		e := &t.Events[i]
		if e.Ph != 'X' || e.Track == trace.NoTrack || e.Flags&trace.ClampedTS != 0 {
			continue
		}
		if e.Kind.Device() {
			device = true
			if call := t.Launch(trace.EventID(i)); call != trace.NoEvent && t.Events[call].Track != trace.NoTrack {
				launches[t.Events[call].Track] = true
			}
		}
		if m, ok := marks[e.Name]; ok && e.Kind == trace.Annotation {
			at := row{m.word, e.Track}
			if found[at] == nil {
				found[at] = &steps{}
			}
			found[at].events = append(found[at].events, trace.EventID(i))
		}
	}
	best, most := "", int64(0)
	for at, s := range found {
		slices.SortFunc(s.events, func(a, b trace.EventID) int { return cmp.Compare(t.Events[a].Start, t.Events[b].Start) })
		ok := len(s.events) > 1 && (launches[at.track] || !device)
		for i, id := range s.events {
			e := &t.Events[id]
			if s.covered += t.Dur(e); i > 0 && ok {
				before := &t.Events[s.events[i-1]]
				last, n := marks[before.Name].number, marks[e.Name].number
				ok = t.End(before) <= e.Start && (n > last || n < 0 && last < 0)
			}
		}
		if !ok {
			delete(found, at)
		} else if s.covered > most || s.covered == most && at.word < best {
			best, most = at.word, s.covered
		}
	}
	made := map[string]trace.Sym{}
	for at, s := range found {
		if at.word != best {
			continue
		}
		for i, id := range s.events {
			number := marks[t.Events[id].Name].number
			if number < 0 {
				number = int64(i)
			}
			t.rename(id, trace.StepPrefix+strconv.FormatInt(number, 10), made)
		}
	}
}

// rename gives an event another name than the input does; made are the symbols of such names.
func (t *draft) rename(id trace.EventID, name string, made map[string]trace.Sym) {
	sym, known := made[name]
	if !known {
		sym = trace.Sym(len(t.Syms))
		t.Syms, made[name] = append(t.Syms, name), sym
	}
	t.Events[id].Name, t.Events[id].Flags = sym, t.Events[id].Flags|trace.Composed
}
