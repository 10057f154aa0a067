package page

import (
	"overlay/internal/flame"
	"overlay/internal/report"
	"overlay/internal/tables"
)

// maxBoxes is how many frames the flame graph of a page has: as many as can be told apart.
const maxBoxes = 1000

// flameView is the flame graph as the script of a page draws it.
type flameView struct {
	Names   []string     `json:"names"`
	Times   []string     `json:"times"` // of each box
	Boxes   [][5]int64   `json:"boxes"` // depth, from the left in ns, wide in ns, name, class
	Classes []string     `json:"classes"`
	Total   int64        `json:"total"`
	Of      string       `json:"of"` // what they are parts of
	Rows    int          `json:"-"`
	Says    string       `json:"-"`
	Key     []report.Key `json:"-"`
}

// What the colours of a difference mean, the first for what is shorter by half and more.
var changeKinds = []report.Key{{Kind: "less2", Word: "half or gone"}, {Kind: "less1", Word: "shorter"}, {Kind: "pale", Word: "within 5 %"}, {Kind: "more1", Word: "longer"}, {Kind: "more2", Word: "twice or new"}}

// changeKind is the colour of a change.
func changeKind(before, after int64) string {
	share := tables.ShareOf(after-before, max(before, after))
	switch {
	case share <= -0.5:
		return changeKinds[0].Kind
	case share < -0.05:
		return changeKinds[1].Kind
	case share >= 0.5:
		return changeKinds[4].Kind
	case share > 0.05:
		return changeKinds[3].Kind
	}
	return changeKinds[2].Kind
}

// flameOf lays out the path by stacks; nil without any.
func flameOf(x *flame.Graph) *flameView {
	if x == nil {
		return nil
	}
	v := &flameView{Of: "the path", Says: "A frame is as wide as the time of the critical path in it and in what it calls, from the top down; its colour is the class with most of that."}
	if x.Compared() {
		v.Of, v.Key = "all frames", changeKinds
		v.Says = "A frame is as wide as the time of the critical path in it and in what it calls, on the side where that is longer; its colour says what became of it."
	}
	names, classes := map[string]int{}, map[string]int{}
	index := func(list *[]string, at map[string]int, s string) int64 {
		i, ok := at[s]
		if !ok {
			i = len(*list)
			at[s], *list = i, append(*list, s)
		}
		return int64(i)
	}
	boxes, total := x.Boxes(maxBoxes)
	for _, b := range boxes {
		class, time := b.Class.String(), tables.Duration(b.NS)+", "+tables.FormatShare(tables.ShareOf(b.NS, total))+" of the path"
		if x.Compared() {
			class, time = changeKind(b.Sides[0], b.Sides[1]), tables.Duration(b.Sides[0])+tables.Arrow+tables.Duration(b.Sides[1])
		}
		v.Boxes = append(v.Boxes, [5]int64{int64(b.Depth), b.Left, b.NS, index(&v.Names, names, report.Shorten(report.Plain(b.Name), 120)), index(&v.Classes, classes, class)})
		v.Times = append(v.Times, time)
		v.Rows = max(v.Rows, b.Depth+1)
	}
	if v.Total = total; len(boxes) == 0 {
		return nil
	}
	return v
}
