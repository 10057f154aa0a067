package trace

import (
	"strconv"
	"strings"
)

// Distributed is what a trace says of the job that its process is one rank of.
type Distributed struct {
	World   int64  // number of processes, 0 when not said
	Host    string // name of the machine, "" when not said
	Job     string // name, version and attempt of the job; "" when not said
	Version string
	Attempt string
	Groups  []ProcessGroup // those that are listed, in the order of the input; never known to be all
}

// ProcessGroup is a communicator: processes that take part in the same collectives.
type ProcessGroup struct {
	Name  string
	Desc  string
	Size  int64   // -1 when not said
	Ranks []int64 // all members in the order of the input; nil when not said, or cut
}

// RecordedCollective is the name of the operator that PyTorch records around each call of a collective.
const RecordedCollective = "record_param_comms"

// Collective is what an event says of the collective that it belongs to. Numbers are -1 and texts empty when not said.
type Collective struct {
	Name    string // allreduce, _allgather_base, send, …
	Dtype   string
	In, Out int64 // elements that this rank gives and takes
	Group   ProcessGroup
	Seq     int64 // number of the collective in its group; of point-to-point calls each side counts its own
	Rank    int64 // of this process in the job
	Peer    int64 // of point-to-point calls the other side, numbered within the group
}

// Collectives reads what events of a trace say of their collectives. Texts and lists of ranks that many of them say alike are
// held once: who takes a list must not change it.
type Collectives struct {
	t       *Trace
	texts   map[string]string
	lists   map[string][]int64
	spreads map[[3]int64][]int64 // by start, stride and number
}

// Collectives begins to read the collectives of a trace.
func (t *Trace) Collectives() *Collectives {
	return &Collectives{t, map[string]string{}, map[string][]int64{}, map[[3]int64][]int64{}}
}

// Collective reads what an event says of its collective; false when it says nothing.
func (t *Trace) Collective(id EventID) (Collective, bool) { return t.Collectives().Of(id) }

// Of reads what an event says of its collective; false when it says nothing.
func (r *Collectives) Of(id EventID) (Collective, bool) {
	c := Collective{In: -1, Out: -1, Seq: -1, Rank: -1, Peer: -1, Group: ProcessGroup{Size: -1}}
	start, stride, src, dst, found := int64(-1), int64(-1), int64(-1), int64(-1), false
	number := func(v Value, to *int64) {
		if n, ok := v.AsInt(); ok {
			*to = n
		}
	}
	r.t.Args(id, func(key string, v Value) bool {
		switch key {
		case "Collective name":
			c.Name = v.Text
		case "dtype":
			c.Dtype = v.Text
		case "In msg nelems":
			number(v, &c.In)
		case "Out msg nelems":
			number(v, &c.Out)
		case "Group size":
			number(v, &c.Group.Size)
		case "Process Group Name":
			c.Group.Name = v.Text
		case "Process Group Description":
			c.Group.Desc = v.Text
		case "Process Group Ranks":
			c.Group.Ranks = r.list(v.Text)
		case "Global rank start":
			number(v, &start)
		case "Global rank stride":
			number(v, &stride)
		case "Seq":
			number(v, &c.Seq)
		case "Rank":
			number(v, &c.Rank)
		case "Src Rank":
			number(v, &src)
		case "Dst Rank":
			number(v, &dst)
		default:
			return true
		}
		found = true
		return true
	})
	if c.Peer = dst; dst < 0 || strings.Contains(c.Name, "recv") {
		c.Peer = max(src, -1)
	}
	if g := &c.Group; g.Ranks == nil && start >= 0 && stride > 0 && g.Size > 0 && g.Size <= 1<<20 {
		g.Ranks = r.spread(start, stride, g.Size)
	}
	if g := &c.Group; g.Size < 0 && g.Ranks != nil {
		g.Size = int64(len(g.Ranks))
	}
	for _, text := range []*string{&c.Name, &c.Dtype, &c.Group.Name, &c.Group.Desc} {
		*text = r.text(*text)
	}
	return c, found && (c.Name != "" || c.Group.Name != "" || c.Group.Ranks != nil)
}

// text copies a text, which belongs to the input: that may be let go before what is made of it.
func (r *Collectives) text(s string) string {
	own, ok := r.texts[s]
	if !ok {
		own = strings.Clone(s)
		r.texts[own] = own
	}
	return own
}

// list reads a list of ranks; see rankList.
func (r *Collectives) list(s string) []int64 {
	list, ok := r.lists[s]
	if !ok {
		list = rankList(s)
		r.lists[strings.Clone(s)] = list
	}
	return list
}

// spread is n ranks from start on, stride apart.
func (r *Collectives) spread(start, stride, n int64) []int64 {
	key := [3]int64{start, stride, n}
	list, ok := r.spreads[key]
	if !ok {
		list = make([]int64, n)
		for i := range list {
			list[i] = start + int64(i)*stride
		}
		r.spreads[key] = list
	}
	return list
}

// rankList reads "[0, 1, 2]"; nil for anything else, such as a list that was cut ("[0, 1, ..., 63]").
func rankList(s string) []int64 {
	s, open := strings.CutPrefix(strings.TrimSpace(s), "[")
	s, closed := strings.CutSuffix(s, "]")
	if !open || !closed || strings.TrimSpace(s) == "" {
		return nil
	}
	var list []int64
	for word := range strings.SplitSeq(s, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
		if err != nil || n < 0 {
			return nil
		}
		list = append(list, n)
	}
	return list
}

// Ranks reads a list of ranks as texts write them; nil for a list that was cut.
func Ranks(text string) []int64 { return rankList(text) }
