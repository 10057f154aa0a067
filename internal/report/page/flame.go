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
	Names   []string   `json:"names"`
	Times   []string   `json:"times"` // of each box
	Boxes   [][5]int64 `json:"boxes"` // depth, from the left in ns, ns, name, class
	Classes []string   `json:"classes"`
	Total   int64      `json:"total"`
	Rows    int        `json:"rows"`
}

// flameOf lays out the path by stacks; nil without any.
func flameOf(x *flame.Graph) *flameView {
	if x == nil {
		return nil
	}
	v := &flameView{}
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
		v.Boxes = append(v.Boxes, [5]int64{int64(b.Depth), b.Left, b.NS, index(&v.Names, names, report.Shorten(report.Plain(b.Name), 120)), index(&v.Classes, classes, b.Class.String())})
		v.Times = append(v.Times, tables.Duration(b.NS)+", "+tables.FormatShare(tables.ShareOf(b.NS, total)))
		v.Rows = max(v.Rows, b.Depth+1)
	}
	if v.Total = total; len(boxes) == 0 {
		return nil
	}
	return v
}
