package whatif

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxFactor is the largest factor that is believed to be meant.
const MaxFactor = 10

// ratioDen is the denominator of factors: thousandths.
const ratioDen = 1000

// Verbs are the words by which a text names a verb, with what stands behind it.
var Verbs = []struct{ Word, Usage string }{
	{"scale", "SELECTOR=FACTOR"},
	{"set", "SELECTOR=TIME"},
	{"shrink", "SELECTOR=TIME"},
	{"remove", "SELECTOR"},
	{"no-wait", "SELECTOR"},
	{"drop", "SELECTOR [for SELECTOR]"},
	{"replace", "SELECTOR=TIME"},
	{"bandwidth", "SELECTOR=GB/s"},
	{"buckets", "SELECTOR=SIZE"},
	{"unlimited-queue", ""},
}

// Scenario reads a scenario: changes with ";" between them, each a verb of Verbs and what stands behind it; scale may be
// left out. A name with ":=" may stand in front of all.
//
//	aten::copy_=0.5
//	no loader, half the copies := remove under:enumerate*; class:copy=0.5
func (s *Selector) Scenario(text string) (sc Scenario, err error) {
	sc.Name, err = ReadChanges(text, func(verb, rest string) error {
		c, err := s.Change(verb, rest)
		sc.Changes = append(sc.Changes, c)
		return err
	})
	return sc, err
}

// ReadChanges lets read read each change of a scenario, and returns the name of the scenario.
func ReadChanges(text string, read func(verb, rest string) error) (name string, err error) {
	name, changes, named := strings.Cut(text, ":=")
	if !named {
		name, changes = "", text
	}
	name = strings.TrimSpace(name)
	some := false
	for part := range strings.SplitSeq(changes, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		verb, rest := "scale", part
		if word, behind, _ := strings.Cut(part, " "); isVerb(word) {
			verb, rest = word, behind
		}
		if err := read(verb, rest); err != nil {
			return name, err
		}
		if some = true; name == "" || !named {
			name = strings.TrimPrefix(name+"; "+shown(verb, rest), "; ")
		}
	}
	if !some {
		return name, fmt.Errorf("scenario %q changes nothing: say what, as in class:compute=0.5", text)
	}
	return name, nil
}

func isVerb(word string) bool {
	return slices.ContainsFunc(Verbs, func(v struct{ Word, Usage string }) bool { return v.Word == word })
}

// shown is a change as it is named to people.
func shown(verb, rest string) string {
	sel, value, ok := cutLast(rest)
	if !ok {
		return strings.TrimSpace(verb + " " + rest)
	}
	if verb == "scale" {
		return sel + " x " + value
	}
	return verb + " " + sel + " to " + value
}

// cutLast cuts at the last equals sign: names may hold some.
func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndex(s, "=")
	if i < 0 {
		return strings.TrimSpace(s), "", false
	}
	return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+1:]), true
}

// Change reads what stands behind a verb.
func (s *Selector) Change(verb, text string) (Change, error) {
	sel, value, ok := cutLast(text)
	var c Change
	var err error
	switch verb {
	case "buckets":
		return c, fmt.Errorf("buckets is for the ranks of a job: give a folder with the traces of all, or their summaries")
	case "unlimited-queue":
		if strings.TrimSpace(text) != "" {
			return c, fmt.Errorf("unlimited-queue takes nothing, %q given", text)
		}
		return Change{Verb: NoQueue}, nil
	case "scale":
		if sel, c.Num, err = Factor(text, ratioDen); err != nil {
			return c, err
		}
		c.Den = ratioDen
		if word, isClass := strings.CutPrefix(sel, "class:"); isClass {
			if k, isDelay := delayNames[word]; isDelay {
				c.Verb, c.Kinds = Delay, []DelayClass{k}
				return c, nil
			}
		}
	case "set", "shrink", "replace":
		if !ok {
			return c, fmt.Errorf("%q has no time: write %s=1.5ms", text, text)
		}
		if c.NS, err = duration(value); err != nil {
			return c, err
		}
		c.Verb = map[string]Verb{"set": SetTime, "shrink": Shrink, "replace": Replace}[verb]
	case "bandwidth":
		if !ok {
			return c, fmt.Errorf("%q has no bandwidth: write %s=50GB/s", text, text)
		}
		c.Verb, c.Den = Bandwidth, ratioDen
		if c.Num, err = gigabytes(value); err != nil {
			return c, err
		}
		all, err := s.Select(sel)
		if err != nil {
			return c, err
		}
		if c.On = s.m.movers(all); c.On.Len() == 0 {
			return c, fmt.Errorf("the trace does not say how much %q moves: collectives say it from PyTorch 2.1 on, copies always", sel)
		}
		return c, nil
	case "remove", "no-wait", "drop":
		sel, c.Verb = strings.TrimSpace(text), map[string]Verb{"remove": Remove, "no-wait": NoWait, "drop": Drop}[verb]
		if on, of, two := strings.Cut(sel, " for "); two && verb == "drop" {
			if c.For, err = s.Select(of); err != nil {
				return c, err
			}
			sel = on
		}
	default:
		return c, fmt.Errorf("no change %q", verb)
	}
	c.On, err = s.Select(sel)
	return c, err
}

// Factor reads what stands behind scale: a selector, and a factor in parts of one.
func Factor(text string, parts float64) (selector string, n int64, err error) {
	selector, value, ok := cutLast(text)
	if !ok {
		return "", 0, fmt.Errorf("%q has no factor: write %s=0.5", text, text)
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(x) {
		return "", 0, fmt.Errorf("%q is no factor: 0 takes the time away, 0.5 halves it, 2 doubles it", value)
	}
	if x < 0 || x > MaxFactor {
		return "", 0, fmt.Errorf("factor %s is not between 0 and %d", value, MaxFactor)
	}
	return selector, int64(math.Round(x * parts)), nil
}

// gigabytes reads a bandwidth in 10^9 bytes a second, as thousandths of a byte a ns.
func gigabytes(text string) (int64, error) {
	number := strings.TrimSpace(strings.TrimSuffix(text, "GB/s"))
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(x) {
		return 0, fmt.Errorf("%q is no bandwidth: write it in 10^9 bytes a second, as 50GB/s", text)
	}
	if x < 0.001 || x > 1e6 {
		return 0, fmt.Errorf("bandwidth %s is not between 0.001 and 1000000 GB/s", text)
	}
	return int64(math.Round(x * ratioDen)), nil
}

// duration reads a time with its unit.
func duration(text string) (int64, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no time: write it with its unit, as 1.5ms or 20us", text)
	}
	if d < 0 {
		return 0, fmt.Errorf("time %s is negative", text)
	}
	return d.Nanoseconds(), nil
}
