package ranks

import (
	"slices"
)

// rounds aligns the longest list with all others, then the longest of what is left, until nothing is. A list in which nothing fits to the
// longest is tried with some others that did: the longest may have been cut or have lost records. Pairs of all lists would be too many where no two
// fit: after some failures, a list has to fit one of a few samples before it is aligned with all.
func (c *channel) rounds(lists []list, align func(a, b *list) []pair, by MatchBy, others int) {
	left, alone := slices.Clone(lists), 0
	for {
		left = slices.DeleteFunc(left, func(l list) bool { return len(l.items) == 0 })
		if len(left) < 2 {
			return
		}
		ref := 0
		for i := range left {
			if len(left[i].items) > len(left[ref].items) {
				ref = i
			}
		}
		r := left[ref]
		left = slices.Delete(left, ref, ref+1)
		if alone >= manyAlone && !fitsSome(&r, left, align) {
			continue
		}
		c.found = slices.Grow(c.found, len(r.items))
		first := half{r, make([]int32, len(r.items))}
		fit, odd := []half{first}, []int(nil) // the longest and the first few that fit to it; those that do not
		for i := range left {
			if h, ok := c.join(&first, &left[i], align, by, len(left)+1); !ok {
				odd = append(odd, i)
			} else if len(fit) <= others {
				fit = append(fit, h)
			}
		}
		if len(odd) == len(left) {
			alone++
		}
		for _, i := range odd {
			for k := range fit[1:] {
				if _, ok := c.join(&fit[1+k], &left[i], align, by, 0); ok {
					break
				}
			}
		}
	}
}

// join puts a list to the instances of another one, and leaves in it what is in none. An item of the other that is in no instance makes one for up to size ranks; none where
// that is 0.
func (c *channel) join(to *half, l *list, align func(a, b *list) []pair, by MatchBy, size int) (h half, some bool) {
	h = half{*l, make([]int32, len(l.items))}
	for _, p := range align(&to.of, l) {
		a, b := &to.of.items[p.a], &l.items[p.b]
		if to.made[p.a] == 0 && size > 0 {
			refs := append(make([]Ref, 0, size), Ref{to.of.member, a.op})
			to.made[p.a] = c.add(matched{refs: refs, by: by, token: a.token, end: a.end})
		}
		if n := to.made[p.a]; n > 0 {
			x := &c.found[n-1]
			x.refs = append(x.refs, Ref{l.member, b.op})
			h.made[p.b], some = n, true
		}
	}
	if some {
		l.items = without(l.items, h.made)
	}
	return h, some
}

// half is a list that was aligned with another.
type half struct {
	of   list
	made []int32 // per item: 1 + its instance
}

// partners is with how many lists one is tried that does not fit to the longest, where steps tell what fits.
const partners = 4

// manyAlone is how many lists may fit to no other before the next ones are tried with so many others only.
const manyAlone = 16

// fitsSome reports whether a list fits to one of a few that are spread over all others.
func fitsSome(r *list, all []list, align func(a, b *list) []pair) bool {
	for k := range manyAlone {
		at := k * len(all) / manyAlone
		if k > 0 && at == (k-1)*len(all)/manyAlone {
			continue
		}
		if len(align(r, &all[at])) > 0 {
			return true
		}
	}
	return false
}

// add keeps an instance and returns its number, counted from 1.
func (c *channel) add(x matched) int32 {
	c.found = append(c.found, x)
	return int32(len(c.found))
}

// without are the items of which none was made an instance. The list that they come from stays as it is.
func without(items []item, made []int32) []item {
	n := 0
	for _, m := range made {
		if m == 0 {
			n++
		}
	}
	rest := make([]item, 0, n)
	for k := range items {
		if made[k] == 0 {
			rest = append(rest, items[k])
		}
	}
	return rest
}
