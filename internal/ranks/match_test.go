package ranks

import (
	"slices"
	"testing"

	"overlay/internal/trace"
)

// TestLossBeforeSteps: a record that each side lost before the first common step is not made up for by what comes after it.
func TestLossBeforeSteps(t *testing.T) {
	var a, b []item
	for i := range int64(24) {
		x := item{end: i * 255_000, token: uint64(AllReduce) << 56, dur: 30_000, steps: upTo(10), seq: -1, op: int32(i)}
		if i >= 8 {
			x.steps = steps(3 + i/8*10)
			x.end += i / 8 * 5_000_000
		}
		if i != 2 {
			a = append(a, x)
		}
		if i != 7 && i > 1 {
			x.end += 6_000_000
			b = append(b, x)
		}
	}
	pairs := alignSteps(a, b)
	for _, p := range pairs {
		if a[p.a].op != b[p.b].op {
			t.Errorf("%d is paired with %d", a[p.a].op, b[p.b].op)
		}
	}
	if len(pairs) != 20 {
		t.Errorf("%d pairs", len(pairs))
	}
}

// TestStrangers: the number of tries grows with the number of ranks, not with its square, where no two of them did the same; those that did are found among very many
// that did not, if they are not very few.
func TestStrangers(t *testing.T) {
	for _, c := range []struct{ n, every, tries int }{
		{16, 0, 16 * 15 / 2},
		{40, 0, 40 * 2 * manyAlone},
		{1024, 0, 1024 * 2 * manyAlone},
		{1024, 4, 1024 * 3 * manyAlone},
	} {
		var lists []list
		for r := range c.n {
			lists = append(lists, list{int32(r), []item{{op: 0, steps: steps(r)}}})
		}
		tries := 0
		same := func(m int32) bool { return c.every > 0 && m >= 200 && int(m)%c.every == 3 }
		var ch channel
		ch.rounds(lists, func(a, b *list) []pair {
			if tries++; same(a.member) && same(b.member) {
				return []pair{{0, 0}}
			}
			return nil
		}, ByOrder, partners)
		if tries > c.tries || c.n <= manyAlone && tries < c.tries {
			t.Errorf("%d ranks: %d tries, at most %d wanted", c.n, tries, c.tries)
		}
		if c.every == 0 && len(ch.found) > 0 || c.every > 0 && (len(ch.found) != 1 || len(ch.found[0].refs) != (c.n-200)/c.every) {
			t.Errorf("%d ranks: found %d collectives", c.n, len(ch.found))
		}
	}
}

// TestNameRanks: a record that names its group alone has the ranks of it from another record, if these agree.
func TestNameRanks(t *testing.T) {
	group := func(name string, ranks ...int64) trace.Collective {
		return trace.Collective{Group: trace.ProcessGroup{Name: name, Ranks: ranks}}
	}
	list := []trace.Collective{group("a"), group("a", 1, 2), group("b"), group("b", 1), group("b", 2), group("", 7), group("")}
	nameRanks(list)
	if !slices.Equal(list[0].Group.Ranks, []int64{1, 2}) || list[2].Group.Ranks != nil || list[6].Group.Ranks != nil {
		t.Errorf("%v", list)
	}
}
