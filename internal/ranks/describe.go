package ranks

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
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
	for i, a := range z.acts {
		records[i], said[i] = z.recorded(a)
		c := &records[i]
		if said[i] && (c.Group.Name != "" || c.Group.Ranks != nil) {
			key := groupKey(&c.Group)
			n := g.Lanes[g.Acts[a].Lane].Number
			if old, ok := streams[n]; ok && old != key {
				key = "?"
			}
			streams[n] = key
			z.group(&c.Group, "args")
		}
	}
	s.Ops = make([]Op, 0, len(z.acts))
	before := map[cdg.LaneID]int64{} // the last launch of a stream
	for i, a := range z.acts {
		act, c := &g.Acts[a], &records[i]
		n := g.Lanes[act.Lane].Number
		k := Kind{Stream: int32(n), Coll: collOf(c.Name), Dtype: strings.Clone(c.Dtype), In: c.In, Out: c.Out, Peer: NoRank, Name: z.name(act.Event)}
		name := tr.Name(act.Event)
		if k.Coll == Other {
			k.Coll = collOf(name)
		}
		switch key, ok := streams[n]; {
		case c.Group.Name != "" || c.Group.Ranks != nil:
			k.Group = z.group(&c.Group, "args")
		case ok && key != "?":
			k.Group = z.groups[key]
		default:
			k.Group = z.group(&trace.ProcessGroup{Name: fmt.Sprintf("stream %d", n), Size: -1}, "stream")
		}
		if k.Coll == SendRecv && c.Peer >= 0 && c.Peer <= math.MaxInt32 {
			k.Peer, k.Sends = Rank(c.Peer), !strings.Contains(c.Name, "recv")
		}
		k.Token = token(&k, c.Name)
		at, ok := z.kinds[k]
		if !ok {
			at = int32(len(s.Kinds))
			z.kinds[k] = at
			s.Kinds = append(s.Kinds, k)
		}
		op := Op{Start: act.Start, End: act.End, Event: act.Event, Kind: at, Seq: -1, Step: -1}
		launch, ok := before[act.Lane]
		if !ok {
			launch = s.Window[0] - 1
		}
		if l := tr.Launch[act.Event]; l != trace.NoEvent {
			launch = tr.Events[l].Start
		}
		op.Launch, before[act.Lane] = launch, launch
		if c.Seq >= 0 && c.Seq <= math.MaxInt32 {
			op.Seq = int32(c.Seq)
		}
		if st := z.stepAt(op.Launch); st >= 0 {
			op.Step = s.Steps[st].Number
		}
		s.Ops = append(s.Ops, op)
	}
}

// recorded is what the trace says of an operation: the operation itself, then the operator around its launch, then the
// annotation of the backend there, which has only a name.
func (z *summarizer) recorded(a cdg.ActID) (trace.Collective, bool) {
	g, tr := z.g, z.tr
	c, ok := tr.Collective(g.Acts[a].Event)
	if ok && c.Group.Ranks != nil && (c.Peer >= 0 || collOf(c.Name) != SendRecv) {
		return c, true
	}
	if !ok {
		c = trace.Collective{In: -1, Out: -1, Seq: -1, Rank: -1, Peer: -1, Group: trace.ProcessGroup{Size: -1}}
	}
	launch := tr.Launch[g.Acts[a].Event]
	if launch == trace.NoEvent {
		return c, ok
	}
	up := g.ActOf[launch]
	for depth := 0; up != cdg.NoAct && depth < 64; up, depth = g.Parent[up], depth+1 {
		e := g.Acts[up].Event
		name := tr.Name(e)
		if name == trace.RecordedCollective {
			if r, found := tr.Collective(e); found {
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

// groupKey tells groups apart.
func groupKey(p *trace.ProcessGroup) string {
	b := make([]byte, 0, len(p.Name)+8+8*len(p.Ranks))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(p.Ranks)))
	for _, r := range p.Ranks {
		b = binary.LittleEndian.AppendUint64(b, uint64(r))
	}
	return string(append(b, p.Name...))
}

// group is the index of a group, which is made when it is new.
func (z *summarizer) group(p *trace.ProcessGroup, by string) int32 {
	key := groupKey(p)
	if i, ok := z.groups[key]; ok {
		return i
	}
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
func token(k *Kind, name string) uint64 {
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
	}
	return t
}

// alike reports whether two tokens may be of one collective: where both say something it is the same.
func alike(a, b uint64) bool {
	if a == b {
		return true
	}
	for _, mask := range [...]uint64{0xff << 56, 0xff << 48, 0xffff << 32, 1<<32 - 1} {
		if x, y := a&mask, b&mask; x != y && x != 0 && y != 0 {
			return false
		}
	}
	return true
}
