package cdg_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"

	"pgregory.net/rapid"
)

// At every instant the slice that started last owns its thread, nested or not; and what lies in a slice follows it.
func TestFlattenGivesEachInstantToTheLastStarted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var text strings.Builder
		n := rapid.IntRange(1, 12).Draw(rt, "slices")
		for i := range n {
			fmt.Fprintf(&text, "op 1 s%d %d %d\n", i, rapid.IntRange(1, 30).Draw(rt, "start"), rapid.IntRange(0, 20).Draw(rt, "dur"))
		}
		g, err := cdg.Build(testtrace.Lines(t, text.String()), cdg.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		d := g
		var bounds []int64
		for _, a := range d.Acts {
			bounds = append(bounds, a.Start, a.End)
		}
		slices.Sort(bounds)
		for i := 1; i < len(bounds); i++ {
			if bounds[i] == bounds[i-1] {
				continue
			}
			mid := (bounds[i] + bounds[i-1]) / 2
			want := cdg.NoAct
			for a := range d.Acts { // in order of start; of equal starts the longer, then the outer comes first
				if d.Acts[a].Start <= mid && mid < d.Acts[a].End {
					want = cdg.ActID(a)
				}
			}
			got := cdg.NoAct
			if p := d.PieceAt(0, mid+1); p >= 0 {
				got = d.Pieces[p].Owner
			}
			if got != want {
				rt.Fatalf("at %d the owner is %d, want %d\n%s", mid, got, want, text.String())
			}
		}
		for a := range cdg.ActID(len(d.Acts)) {
			for b := range cdg.ActID(len(d.Acts)) {
				up := b
				for up != cdg.NoAct && up != a {
					up = d.Parent[up]
				}
				if in := a <= b && b < d.Enclosed(a); in != (up == a) {
					rt.Fatalf("%d lies in %d: %v, by parents %v\n%s", b, a, in, up == a, text.String())
				}
			}
		}
		for i := int(d.PieceFirst[0]); i+1 < int(d.PieceFirst[1]); i++ {
			if d.Pieces[i].Start >= d.Pieces[i+1].Start || d.Pieces[i].Owner == d.Pieces[i+1].Owner {
				rt.Fatalf("pieces %v and %v", d.Pieces[i], d.Pieces[i+1])
			}
		}
	})
}
