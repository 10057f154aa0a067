package ranks

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// describe makes operations of the activities: what each does, in which group, in which step.
func (z *summarizer) describe() {
	g, tr, s := z.g, z.tr, z.s
	z.groups = map[string]int32{}
	records := make([]trace.Collective, len(z.acts))
	said := make([]bool, len(z.acts))
	streams := map[int64]string{} // the group of all operations of a stream that name one; "?" when they differ
	peers := map[int64]int64{}    // the other side of all transfers of a stream that name one; -1 when they differ
	pairs := map[int64]string{}   // the places of all transfers of a stream that say them; "?" when they differ
	for i := range z.acts {
		records[i], said[i] = z.recorded(i)
	}
	nameRanks(records)
	for i, a := range z.acts {
		c := &records[i]
		n := z.streamOf(a)
		if p, ok := peers[n]; collOf(c.Name) == SendRecv && c.Peer >= 0 && c.Peer <= math.MaxInt32 && (!ok || p == c.Peer) {
			peers[n] = c.Peer
		} else if c.Name != "" {
			peers[n] = -1
		}
		if p, _ := places(c.Name); p != "" {
			if old, ok := pairs[n]; ok && old != p {
				p = "?"
			}
			pairs[n] = p
		}
		if said[i] && (c.Group.Name != "" || c.Group.Ranks != nil) {
			key := z.groupKey(&c.Group)
			if old, ok := streams[n]; !ok {
				streams[n] = string(key)
			} else if old != string(key) {
				streams[n] = "?"
			}
			z.group(&c.Group, "args")
		}
	}
	s.Ops = make([]Op, 0, len(z.acts))
	before := map[cdg.LaneID]int64{} // the last launch of a stream
	for i, a := range z.acts {
		act, c := &g.Acts[a], &records[i]
		n := z.streamOf(a)
		said := saidKind{stream: n, name: c.Name, dtype: c.Dtype, in: c.In, out: c.Out, peer: c.Peer, kernel: tr.Events[act.Event].Name, other: NoRank}
		switch key, ok := streams[n]; {
		case c.Group.Name != "" || c.Group.Ranks != nil:
			said.group = z.group(&c.Group, "args")
		case ok && key != "?":
			said.group = z.groups[key]
		case n == onHost && z.onlyGroup() != nil:
			said.group = z.group(z.onlyGroup(), "config")
		case n == onHost:
			said.group = z.group(&trace.ProcessGroup{Name: onCPU, Size: -1}, "stream")
		default:
			said.group = z.group(&trace.ProcessGroup{Name: fmt.Sprintf("stream %d", n), Size: -1}, "stream")
		}
		if p, ok := peers[n]; c.Name == "" && ok && p >= 0 { // libraries have a stream for each pair
			said.other = Rank(p)
		}
		if said.between, said.up = places(c.Name); c.Name == "" && pairs[n] != "?" {
			said.between = pairs[n]
		}
		at, ok := z.said[said]
		if !ok {
			at = z.kind(&said, act.Event)
			z.said[said] = at
		}
		meets := span(g, z.host, a)
		op := Op{Start: meets.Start, End: meets.End, Event: act.Event, Kind: at, Seq: -1, Step: -1}
		launch, ok := before[act.Lane]
		if !ok {
			launch = s.Window[0] - 1
		}
		if l := tr.Launch(act.Event); l != trace.NoEvent {
			launch = tr.Events[l].Start
		} else if n == onHost {
			launch = act.Start
			if x := z.host[a]; x != nil && x.Call != cdg.NoAct {
				launch = g.Acts[x.Call].Start
			}
		}
		op.Launch, before[act.Lane] = launch, launch
		if c.Seq >= 0 && c.Seq <= math.MaxInt32 {
			op.Seq = int32(c.Seq)
		}
		if st := z.stepAt(op.Launch); st >= 0 {
			op.Step = max(s.Steps[st].Number, -1)
		}
		s.Ops = append(s.Ops, op)
	}
}

// onCPU is the name of the group of collectives that the CPU does, where nothing says theirs.
const onCPU = "CPU"

// nameRanks gives the ranks of their groups to records that name the group alone: of kernels whose list was cut, or whose launch has no record.
func nameRanks(records []trace.Collective) {
	known := map[string]*trace.ProcessGroup{}
	for i := range records {
		g := &records[i].Group
		if g.Name == "" || g.Ranks == nil {
			continue
		}
		if old, ok := known[g.Name]; ok && (old == nil || !slices.Equal(old.Ranks, g.Ranks)) {
			g = nil
		}
		known[records[i].Group.Name] = g
	}
	for i := range records {
		if g := &records[i].Group; g.Ranks == nil && known[g.Name] != nil {
			*g = *known[g.Name]
		}
	}
}

// onlyGroup is the group of all ranks where the trace lists no other: what names no group was made there.
func (z *summarizer) onlyGroup() *trace.ProcessGroup {
	if d := &z.tr.Distributed; len(d.Groups) == 1 && int64(len(d.Groups[0].Ranks)) == d.World && d.World > 1 {
		return &d.Groups[0]
	}
	return nil
}

// onHost is the stream of operations of the CPU: its threads share them out.
const onHost = -1

func (z *summarizer) streamOf(a cdg.ActID) int64 {
	if l := &z.g.Lanes[z.g.Acts[a].Lane]; l.Stream {
		return l.Number
	}
	return onHost
}

// saidKind is what records say of an operation that decides its kind.
type saidKind struct {
	stream        int64
	group         int32
	name, dtype   string
	in, out, peer int64
	kernel        trace.Sym
	between       string // the places of the two sides of a transfer in their group
	up            bool   // it goes to the higher of them
	other         Rank   // the other side of all transfers of its stream, of an operation of which nothing is recorded; else NoRank
}

// kind is the index of the kind of an operation, which is made when it is new.
func (z *summarizer) kind(c *saidKind, kernel trace.EventID) int32 {
	k := Kind{Group: c.group, Stream: int32(c.stream), Coll: collOf(c.name), Dtype: c.dtype, In: c.in, Out: c.out, Peer: NoRank, Name: z.name(kernel)}
	if k.Coll == Other {
		k.Coll = collOf(z.tr.Name(kernel))
	}
	switch {
	case k.Coll != SendRecv:
	case c.peer >= 0 && c.peer <= math.MaxInt32:
		k.Peer, k.Sends = Rank(c.peer), !strings.Contains(c.name, "recv")
	case c.other != NoRank:
		k.Peer = c.other
	default:
		k.Sends = strings.HasPrefix(c.name, "send")
	}
	k.Token = token(&k, c.name, c.between)
	if k.Coll == SendRecv && k.Peer == NoRank && c.between != "" && c.name != "" {
		k.Token |= direction(c.up)
	}
	if c.stream == onHost && k.Coll != SendRecv {
		k.Token |= loose
	}
	at, ok := z.kinds[k]
	if !ok {
		at = int32(len(z.s.Kinds))
		z.kinds[k] = at
		z.s.Kinds = append(z.s.Kinds, k)
	}
	return at
}

// recordedOnHost is what the trace says of an operation of a thread: the annotation itself, then what is recorded inside of the operator
// that asked for it, then its name.
func (z *summarizer) recordedOnHost(i int) (trace.Collective, bool) {
	g, tr := z.g, z.tr
	e := g.Acts[z.acts[i]].Event
	c, ok := z.collectives.Of(e)
	if x := z.host[z.acts[i]]; !ok && x != nil && x.Call != cdg.NoAct {
		call := x.Call
		for a := call; a < g.Lanes[g.Acts[call].Lane].Limit && g.Acts[a].Start <= g.Acts[call].End; a++ {
			if tr.Name(g.Acts[a].Event) == trace.RecordedCollective {
				if c, ok = z.collectives.Of(g.Acts[a].Event); ok {
					break
				}
			}
		}
	}
	if !ok {
		c = trace.Collective{In: -1, Out: -1, Seq: -1, Rank: -1, Peer: -1, Group: trace.ProcessGroup{Size: -1}}
	}
	if c.Name == "" {
		c.Name, _ = backendWord(tr.Name(e))
	}
	return c, true
}

// recorded is what the trace says of an operation: the operation itself, then the operator around its launch, then the
// annotation of the backend there, which has only a name.
func (z *summarizer) recorded(i int) (trace.Collective, bool) {
	g, tr, a := z.g, z.tr, z.acts[i]
	if z.streamOf(a) == onHost {
		return z.recordedOnHost(i)
	}
	c, ok := z.collectives.Of(g.Acts[a].Event)
	if ok && c.Group.Ranks != nil && (c.Peer >= 0 || collOf(c.Name) != SendRecv) {
		return c, true
	}
	if !ok {
		c = trace.Collective{In: -1, Out: -1, Seq: -1, Rank: -1, Peer: -1, Group: trace.ProcessGroup{Size: -1}}
	}
	launch := tr.Launch(g.Acts[a].Event)
	if launch == trace.NoEvent {
		return c, ok
	}
	up := g.ActOf[launch]
	for depth := 0; up != cdg.NoAct && depth < 64; up, depth = g.Parent[up], depth+1 {
		e := g.Acts[up].Event
		name := tr.Name(e)
		if name == trace.RecordedCollective {
			if r, found := z.collectives.Of(e); found {
				seq := c.Seq
				if c = r; c.Seq < 0 {
					c.Seq = seq
				}
				return c, true
			}
			continue
		}
		if word, found := backendWord(name); found && c.Name == "" {
			c.Name = word
		}
	}
	return c, ok || c.Name != ""
}

// backendWord is the collective in the name of an annotation such as nccl:all_reduce.
func backendWord(name string) (string, bool) {
	backend, word, ok := strings.Cut(name, ":")
	if !ok || !slices.Contains(vendors.Backends(), backend) {
		return "", false
	}
	return word, true
}

// groupKey tells groups apart. It holds until the next one is asked for.
func (z *summarizer) groupKey(p *trace.ProcessGroup) []byte {
	b := binary.LittleEndian.AppendUint64(z.key[:0], uint64(len(p.Ranks)))
	for _, r := range p.Ranks {
		b = binary.LittleEndian.AppendUint64(b, uint64(r))
	}
	z.key = append(b, p.Name...)
	return z.key
}

// group is the index of a group, which is made when it is new.
func (z *summarizer) group(p *trace.ProcessGroup, by string) int32 {
	if i, ok := z.groups[string(z.groupKey(p))]; ok {
		return i
	}
	key := string(z.key)
	q := *p
	if q.Ranks == nil && by != "stream" {
		for _, known := range z.tr.Distributed.Groups {
			if known.Name == q.Name && known.Ranks != nil {
				q, by = known, "config"
			}
		}
	}
	if world := z.tr.Distributed.World; q.Ranks == nil && q.Size > 0 && q.Size == world && world <= 1<<20 {
		for r := range world {
			q.Ranks = append(q.Ranks, r)
		}
	}
	group := Group{Name: strings.Clone(q.Name), Desc: strings.Clone(q.Desc), Size: int32(max(q.Size, int64(len(q.Ranks)), 0)), By: by}
	for _, r := range q.Ranks {
		group.Ranks = append(group.Ranks, Rank(r))
	}
	slices.Sort(group.Ranks)
	i := int32(len(z.s.Groups))
	z.groups[key] = i
	z.s.Groups = append(z.s.Groups, group)
	return i
}

// token is what all members of a collective say alike: what it does, the type, and how many elements where these are the
// same on all ranks. Each part is 0 where it is not recorded; see alike.
func token(k *Kind, name, between string) uint64 {
	part := func(bits int, words ...any) uint64 {
		h := fnv.New64a()
		fmt.Fprint(h, words...)
		return 1 + h.Sum64()%(1<<bits-1)
	}
	t := uint64(k.Coll) << 56
	if name == "" && (k.Coll == SendRecv || k.Coll == Other) {
		t = 0 // by the name of the kernel alone: libraries make several collectives out of such kernels
	}
	if k.Dtype != "" {
		t |= part(16, k.Dtype) << 32
	}
	if equalSizes(name, k.Coll) && k.In >= 0 {
		t |= part(32, k.In)
	} else if n := max(k.In, k.Out); k.Coll == SendRecv && k.Peer != NoRank && n >= 0 {
		t |= part(32, n)
	} else if k.Coll == SendRecv && k.Peer == NoRank && between != "" {
		t |= part(32, between)
	}
	return t
}

// places are those of the two sides of a transfer in their group, the lower one first, as its annotation says them: send 3->5, or
// recv 3<-5. Empty where it does not. The second result tells whether it goes up, from the lower one to the higher one.
func places(name string) (between string, up bool) {
	_, said, _ := strings.Cut(name, " ")
	a, b, sends := strings.Cut(said, "->")
	if !sends {
		a, b, _ = strings.Cut(said, "<-")
	}
	own, errA := strconv.Atoi(a)
	other, errB := strconv.Atoi(b)
	if errA != nil || errB != nil {
		return "", false
	}
	return fmt.Sprint(min(own, other), " ", max(own, other)), sends == (own < other)
}

// loose marks collectives of the CPU in a token: their ends differ by a larger share of their duration, as the data reaches
// each rank over the network in its own time.
const (
	loose      = 4 << 48
	looseEnds  = 0.05
	marksOfWay = 0xff << 48 // loose, or the direction of a transfer
)

// direction marks the way of a transfer in a token: up to the higher of its two sides, or down. Both sides say the same.
func direction(up bool) uint64 {
	if up {
		return 2 << 48
	}
	return 1 << 48
}

// alike reports whether two tokens may be of one collective: where both say something it is the same.
func alike(a, b uint64) bool {
	if a == b {
		return true
	}
	for _, mask := range [...]uint64{0xff << 56, marksOfWay, 0xffff << 32, 1<<32 - 1} {
		if x, y := a&mask, b&mask; x != y && x != 0 && y != 0 {
			return false
		}
	}
	return true
}
