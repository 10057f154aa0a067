package ranks

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
)

// madeSets are two ranks of which nothing says which of their collectives are one. They make rounds of equal collectives, steps say nothing, and
// each has recorded another part of them.
type madeSets struct {
	rounds    int
	irregular int64 // ns by which rounds differ
	apart     int64 // by how much the clock of the second is ahead
	cut       int   // collectives that the first lacks at the begin and the second at the end
	some      bool  // other collectives were found, and say how much ends differ
}

func (c madeSets) make() (*Matched, []channel) {
	rng := rand.New(rand.NewPCG(3, 8))
	const each = 10
	var a, b Summary
	at := int64(0)
	for i := range c.rounds * each {
		at += 500_000
		if i%each == 0 {
			at += rng.Int64N(c.irregular + 1)
		}
		add := func(s *Summary, apart int64) {
			end := at + apart + int64(rng.NormFloat64()*500)
			s.Ops = append(s.Ops, Op{Start: end - 40_000, End: end, Launch: end - 60_000, Seq: -1, Step: -1})
		}
		if i >= c.cut {
			add(&a, 0)
		}
		if i < c.rounds*each-c.cut {
			add(&b, c.apart)
		}
	}
	j := &Matched{}
	j.Groups = []JobGroup{{Name: "0", Ranks: []Rank{0, 1}, Size: 2, Known: true}}
	ch := channel{low: NoRank, high: NoRank}
	for m, s := range []*Summary{&a, &b} {
		s.Rank, s.Device = Rank(m), -1
		s.Kinds = []Kind{{Coll: AllReduce, Token: uint64(AllReduce) << 56, Peer: NoRank}}
		s.Window = [2]int64{s.Ops[0].Start, s.Ops[len(s.Ops)-1].End}
		clock := Clock{Component: int32(m)}
		j.Members = append(j.Members, Member{Summary: s, Clock: clock, In: slices.Repeat([]int32{-1}, len(s.Ops)), group: []int32{0}})
		p := part{member: int32(m)}
		for i := range s.Ops {
			p.ops = append(p.ops, int32(i))
		}
		ch.parts = append(ch.parts, p)
	}
	if c.some {
		j.Clocks.P50 = 500
	}
	return j, []channel{ch}
}

// TestJoinSets: two ranks are put on one clock where the ends of their collectives say clearly by how much it is ahead, and not
// otherwise.
func TestJoinSets(t *testing.T) {
	for name, c := range map[string]struct {
		sets madeSets
		want bool
	}{
		"rounds that differ":        {madeSets{rounds: 6, irregular: 200_000, apart: 2_000_000_000, cut: 15}, true},
		"rounds that differ little": {madeSets{rounds: 6, irregular: 20_000, apart: -7_000_000, cut: 15, some: true}, true},
		"the same, unknown noise":   {madeSets{rounds: 6, irregular: 12_000, apart: -7_000_000, cut: 15}, false},
		"rounds that are the same":  {madeSets{rounds: 6, apart: 1_000_000, cut: 15, some: true}, false},
		"little that both can have": {madeSets{rounds: 4, irregular: 200_000, apart: 5, cut: 17, some: true}, false},
	} {
		j, channels := c.sets.make()
		j.joinSets(channels)
		x, y := &j.Members[0].Clock, &j.Members[1].Clock
		if joined := x.Component == y.Component; joined != c.want {
			t.Errorf("%s: joined %v", name, joined)
		} else if ahead := y.Offset - x.Offset; joined && abs(ahead-c.sets.apart) > 2000 {
			t.Errorf("%s: ahead by %d, want %d", name, ahead, c.sets.apart)
		}
	}
}

// TestUnite: of sets that do not fit each two are tried once, and of very many not all; a set that has taken another is tried with all once more, those before it among them.
func TestUnite(t *testing.T) {
	made := func(n int) []set {
		list := make([]set, n)
		for i := range list {
			list[i] = set{components: []int32{int32(i)}, ahead: []int64{0}}
		}
		return list
	}
	for n, most := range map[int]int64{1: 0, 40: 40 * 39 / 2, 96: 96 * 95 / 2, 1024: 96*95/2 + 1024} {
		var votes atomic.Int64
		joined := unite(made(n), func(_, _ *set) (int64, bool) { votes.Add(1); return 0, false })
		if got := votes.Load(); joined || got > most || n <= 96 && got < most {
			t.Errorf("%d sets: %d votes, at most %d wanted", n, got, most)
		}
	}
	list := made(6)
	joined := unite(list, func(s, o *set) (int64, bool) {
		a, b := s.components[0], o.components[0]
		return 7, a == 2 && (b == 4 || len(s.components) > 1 && b == 1 || len(s.components) > 2 && b == 3)
	})
	if !joined || !slices.Equal(list[2].components, []int32{2, 4, 1, 3}) || !list[1].gone || !list[3].gone || list[0].gone || list[5].gone {
		t.Errorf("%+v", list)
	}
}
