package replay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/ranks"
	"overlay/internal/whatif"
)

// Scenario is a question as it is asked in text.
type Scenario struct {
	Name   string
	Ask    Question
	Longer bool // it makes something longer

	Of *Model // the job with collectives put together; nil: as it was
}

// Parser reads questions about a job.
type Parser struct {
	Model *Model
	Shown func(string) string // how reports show a name; it may be asked for so
}

// Scenario reads changes with ";" between them, as whatif.Selector does for one trace, of which it knows scale alone, and buckets, which one trace has not. A name with ":=" may stand in front of all.
func (p *Parser) Scenario(text string) (s Scenario, err error) {
	var list []Change
	s.Name, err = whatif.ReadChanges(text, func(verb, rest string) error {
		switch verb {
		case "buckets":
			return p.buckets(&s, rest)
		case "scale":
		default:
			return fmt.Errorf("%s is for one trace; over ranks there are --scale and --buckets", verb)
		}
		selector, factor, err := whatif.Factor(strings.TrimSpace(rest), Whole)
		if err != nil {
			return err
		}
		c := Change{Factor: factor}
		s.Longer = s.Longer || factor > Whole
		err = p.selected(&c, selector)
		if list = append(list, c); err != nil || c.Of == WholeTransfer {
			return err
		}
		return p.law(&c)
	})
	s.Ask = Changes(list)
	return s, err
}

// buckets reads which collectives are put together, and until they have how many bytes.
func (p *Parser) buckets(s *Scenario, text string) (err error) {
	selector, value, _ := strings.Cut(text, "=")
	size, c := bytesOf(strings.TrimSpace(value)), Change{}
	switch {
	case size <= 0:
		return fmt.Errorf("buckets %s: write the size until which all-reduces are put together, as in buckets transfer=100MB", strings.TrimSpace(text))
	case s.Of != nil:
		return fmt.Errorf("one size of buckets a scenario; of several groups write several scenarios")
	}
	if err = p.selected(&c, strings.TrimSpace(selector)); err != nil {
		return err
	}
	if c.Transfers == nil || c.Ranks != nil || c.Steps != nil || c.Of != WholeTransfer {
		return fmt.Errorf("%q: all-reduces are put together in all steps and on all ranks of a group: write transfer, or transfer in group:NAME", selector)
	}
	s.Of, err = p.Model.Joined(c.Transfers, size)
	return err
}

// bytesOf reads a size with its unit, -1 where it is none.
func bytesOf(text string) int64 {
	for unit, n := range map[string]float64{"kB": 1e3, "MB": 1e6, "GB": 1e9, "MiB": 1 << 20, "GiB": 1 << 30} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			if x, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && x > 0 && x < 1e6 {
				return int64(x * n)
			}
		}
	}
	return -1
}

// law is an error where the latency of a collective that changes is not known.
func (p *Parser) law(c *Change) error {
	m := p.Model
	for i, l := range m.latency() {
		if g := &m.Job.Groups[m.Job.Instances[i].Group]; l < 0 && c.Transfers(g) {
			return fmt.Errorf("nothing tells the latency of collectives from what their bytes take where they have one size only, or do not say theirs, as %s in group %s: ask for others in group:NAME, or for the whole transfer",
				m.Job.Instances[i].Coll, cmp.Or(g.Name, g.Desc))
		}
	}
	return nil
}

// oneTrace are selectors of which summaries do not say what they mean.
var oneTrace = []string{"phase:", "stream:", "thread:", "annotation:", "under:"}

// places are selectors that say where, not what.
var places = []string{"rank:", "host:", "stage:", "group:", "step:"}

// selected reads a selector: terms with " in " between them.
func (p *Parser) selected(c *Change, text string) error {
	what, where := text, []string(nil)
	for {
		i := strings.LastIndex(what, " in ")
		if i < 0 {
			break
		}
		term := strings.TrimSpace(what[i+len(" in "):])
		if !slices.ContainsFunc(slices.Concat(places, oneTrace, []string{"class:"}), func(x string) bool { return strings.HasPrefix(term, x) }) {
			break
		}
		what, where = strings.TrimSpace(what[:i]), append(where, term)
	}
	work := func(is func(string, ranks.Work) bool) {
		if was := c.Work; was != nil {
			c.Work = func(n string, w ranks.Work) bool { return was(n, w) && is(n, w) }
			return
		}
		c.Work = is
	}
	transfers := func(of func(*ranks.JobGroup) bool) {
		if was := c.Transfers; was != nil {
			c.Transfers = func(g *ranks.JobGroup) bool { return was(g) && of(g) }
			return
		}
		c.Transfers = of
	}
	for _, term := range append(where, what) {
		kind, arg, prefixed := strings.Cut(term, ":")
		if arg = strings.TrimSpace(arg); !prefixed { // a name such as step
			kind = ""
		}
		var err error
		switch {
		case slices.Contains(oneTrace, kind+":"):
			return fmt.Errorf("%q: summaries of ranks know names, classes and steps, and not %s; it can be asked of the trace of one rank", term, kind)
		case kind == "rank":
			err = p.ofRanks(c, arg)
		case kind == "host":
			err = p.ofHost(c, arg)
		case kind == "stage":
			err = p.ofStage(c, arg)
		case kind == "step":
			err = p.ofStep(c, arg)
		case kind == "group":
			var of func(*ranks.JobGroup) bool
			if of, err = p.group(arg); err == nil {
				transfers(of)
			}
		case kind == "class" && arg != "comm" && arg != "communication":
			var in func(string, ranks.Work) bool
			if in, err = class(arg); err == nil {
				work(in)
			}
		case term == "transfer", term == "latency", term == "bytes", kind == "class":
			c.Of = map[string]TransferPart{"latency": Latency, "bytes": Bytes}[term]
			transfers(func(*ranks.JobGroup) bool { return true })
		case term == "":
			return fmt.Errorf("a change without a selector: say what is to change, as in class:compute in rank:5=0.5")
		default:
			pattern := strings.TrimPrefix(term, "name:")
			work(func(n string, _ ranks.Work) bool { return n != "" && p.matches(pattern, n) })
		}
		if err != nil {
			return err
		}
	}
	switch {
	case c.Work != nil && c.Transfers != nil:
		return fmt.Errorf("%q: collectives and groups have transfers, and no work: write transfer in group:NAME", text)
	case c.Transfers == nil && c.Work == nil: // nothing but places
		c.Work = func(string, ranks.Work) bool { return true }
	}
	return p.hits(c, text, what)
}

// matches tells a name by a pattern in which * stands for anything.
func (p *Parser) matches(pattern, name string) bool {
	return whatif.Glob(pattern, name) || p.Shown != nil && whatif.Glob(pattern, p.Shown(name))
}

// hits is an error if a change changes nothing.
func (p *Parser) hits(c *Change, text, what string) error {
	m, alone := p.Model, false
	for i := range m.Job.Members {
		x := &m.Job.Members[i]
		if c.Ranks != nil && !c.Ranks(x) {
			continue
		}
		if c.Ranks != nil && len(x.Ops) > 0 && slices.Max(x.In) < 0 {
			alone = true
			continue
		}
		for k := range x.Kinds {
			if c.Transfers != nil && c.Transfers(&m.Job.Groups[x.GroupOf(int32(k))]) {
				return nil
			}
		}
		if c.Work != nil && slices.ContainsFunc(m.keys[i], func(k key) bool { return c.Work(k.Name, k.Work) }) {
			return nil
		}
	}
	if alone {
		return fmt.Errorf("%q: no collective of these ranks is matched with those of others, so nothing says who waits for them", text)
	}
	if c.Transfers != nil {
		return fmt.Errorf("%q: these ranks have no such collectives", text)
	}
	return fmt.Errorf("%q selects nothing that collectives followed from; %s", text, p.near(strings.TrimPrefix(what, "name:")))
}

// near names what a text may have meant: names with its letters, else those with the most time.
func (p *Parser) near(word string) string {
	word = strings.ToLower(strings.Trim(word, "* "))
	time := map[string]int64{}
	for i := range p.Model.Job.Members {
		x := &p.Model.Job.Members[i]
		c := ranks.ChainReader{}
		for o := range int32(len(x.Stubs)) {
			for c.Read(x.Summary, o, 0); c.Next(); {
				for _, part := range c.Parts() {
					time[x.Names[x.Chains.Of[part.Of].Name]] += part.NS
				}
			}
		}
	}
	delete(time, "")
	names := slices.SortedFunc(maps.Keys(time), func(a, b string) int {
		in := func(s string) int {
			if strings.Contains(strings.ToLower(s), word) {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(in(a), in(b)), cmp.Compare(time[b], time[a]), cmp.Compare(a, b))
	})
	if len(names) == 0 {
		return "they name no work"
	}
	return "names with much time are " + whatif.Nearest(names)
}

// class is the work of a class by the words of selectors.
func class(arg string) (func(string, ranks.Work) bool, error) {
	works, ok := map[string][]ranks.Work{
		"compute": {ranks.OnDevice}, "gpu_compute": {ranks.OnDevice}, "copy": {ranks.Copying}, "cpu": {ranks.OnThread, ranks.Calling, ranks.InPython}, "runtime": {ranks.Calling}, "python": {ranks.InPython},
	}[arg]
	if !ok {
		return nil, fmt.Errorf("no class %q over ranks: compute, comm (transfers), copy, cpu, runtime, python", arg)
	}
	return func(_ string, w ranks.Work) bool { return slices.Contains(works, w) }, nil
}

// ofRanks reads ranks as 5 or 0-3,8.
func (p *Parser) ofRanks(c *Change, arg string) error {
	of := map[ranks.Rank]bool{}
	for word := range strings.SplitSeq(arg, ",") {
		lo, hi, ranged := strings.Cut(strings.TrimSpace(word), "-")
		if !ranged {
			hi = lo
		}
		from, err := strconv.ParseInt(lo, 10, 32)
		to, err2 := strconv.ParseInt(hi, 10, 32)
		if err != nil || err2 != nil || from < 0 || to < from {
			return fmt.Errorf("%q are no ranks: rank:5 or rank:0-3,8", arg)
		}
		found := false
		for i := range p.Model.Job.Members {
			if r := p.Model.Job.Members[i].Rank; int64(r) >= from && int64(r) <= to {
				of[r], found = true, true
			}
		}
		if !found {
			return fmt.Errorf("no trace of rank %s; there are ranks %d to %d", word, p.Model.Job.Members[0].Rank, p.Model.Job.Members[len(p.Model.Job.Members)-1].Rank)
		}
	}
	c.also(func(x *ranks.Member) bool { return of[x.Rank] })
	return nil
}

// also narrows a change to ranks.
func (c *Change) also(of func(*ranks.Member) bool) {
	if was := c.Ranks; was != nil {
		c.Ranks = func(x *ranks.Member) bool { return was(x) && of(x) }
		return
	}
	c.Ranks = of
}

func (p *Parser) ofHost(c *Change, name string) error {
	hosts := map[string]bool{}
	for i := range p.Model.Job.Members {
		hosts[p.Model.Job.Members[i].Host] = true
	}
	delete(hosts, "")
	if !hosts[name] {
		return fmt.Errorf("no host %q%s", name, listed(hosts, "; the traces name none: give --hosts"))
	}
	c.also(func(x *ranks.Member) bool { return x.Host == name })
	return nil
}

func (p *Parser) ofStage(c *Change, arg string) error {
	n, err := strconv.ParseInt(arg, 10, 32)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is no stage: write its number from 0 on, as in stage:3", arg)
	}
	stages := p.Model.Job.StageOf()
	if last := slices.Max(stages); last < 0 {
		return fmt.Errorf("no stage %s: the ranks are in no pipeline", arg)
	} else if !slices.Contains(stages, int(n)) {
		return fmt.Errorf("no rank of stage %s; there are stages up to %d", arg, last)
	}
	of := map[ranks.Rank]bool{}
	for i, st := range stages {
		of[p.Model.Job.Members[i].Rank] = of[p.Model.Job.Members[i].Rank] || st == int(n)
	}
	c.also(func(x *ranks.Member) bool { return of[x.Rank] })
	return nil
}

// listed names the first of some names for a message.
func listed(names map[string]bool, none string) string {
	list := slices.Sorted(maps.Keys(names))
	if len(list) == 0 {
		return none
	}
	return ", but " + strings.Join(list[:min(8, len(list))], ", ")
}

func (p *Parser) ofStep(c *Change, arg string) error {
	n, err := strconv.ParseInt(arg, 10, 32)
	if err != nil {
		return fmt.Errorf("%q is no step: write its number, as in step:3", arg)
	}
	for i := range p.Model.slots {
		if p.Model.slots[i][int32(n)] > 0 {
			c.Steps = map[int32]bool{int32(n): true}
			return nil
		}
	}
	return fmt.Errorf("no rank has a step %s", arg)
}

// group is the groups of a name, or of what they are for.
func (p *Parser) group(name string) (func(*ranks.JobGroup) bool, error) {
	names := map[string]bool{}
	found := false
	for i := range p.Model.Job.Groups {
		g := &p.Model.Job.Groups[i]
		names[g.Name] = true
		found = found || g.Name == name || g.Desc == name && name != ""
	}
	if !found {
		return nil, fmt.Errorf("no group %q%s", name, listed(names, "; the ranks have no collectives"))
	}
	return func(g *ranks.JobGroup) bool { return g.Name == name || g.Desc == name }, nil
}
