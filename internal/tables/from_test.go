package tables

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

type inner struct {
	Count int     `json:"count" unit:"count"`
	Mean  float64 `json:"mean" unit:"*" about:"of all"`
}

type cause struct {
	Why string `json:"why"`
	NS  int64  `json:"ns" unit:"ns"`
}

type row struct {
	Device  int64            `json:"device" unit:"id" key:"yes"`
	Name    string           `json:"name"`
	At      *int32           `json:"at" unit:"ref"`
	Low     bool             `json:"low"`
	Times   inner            `json:"times" unit:"ns"`
	Kernels []string         `json:"kernels"`
	Causes  []cause          `json:"causes" about:"why"`
	ByClass map[string]int64 `json:"by_class" entry:"class" unit:"ns"`
	Hidden  int              `json:"-"`
	Apart   []cause          `json:"apart" table:"-"`
}

type doc struct {
	Schema string  `json:"schema"`
	Head   head    `json:"head" table:"summary" about:"in short"`
	Rows   []row   `json:"rows" table:"rows"`
	Maybe  *head   `json:"maybe"`
	IDs    []int   `json:"ids" entry:"id" unit:"id"`
	Share  float64 `json:"share" unit:"share"`
}

type head struct {
	NS int64 `json:"ns" unit:"ns"`
}

// dump writes tables as text.
func dump(list []Table) string {
	var b strings.Builder
	for i := range list {
		t := &list[i]
		fmt.Fprintf(&b, "%s (%s)", t.Name, t.About)
		for _, c := range t.Cols {
			fmt.Fprintf(&b, " %s:%s", c.Name, c.Unit)
		}
		b.WriteByte('\n')
		for l := range t.Lines(-1) {
			for k, c := range t.Cols {
				fmt.Fprintf(&b, "  %s=%s", c.Name, c.Unit.Format(l.Values[k]))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func sample() *doc {
	at := int32(12)
	return &doc{Schema: "x/1", Head: head{1500}, Share: 0.5, IDs: []int{3, 1}, Rows: []row{
		{Device: 0, Name: "a", At: &at, Low: true, Times: inner{2, 2500.5}, Kernels: []string{"k", "l"}, Causes: []cause{{"x", 1}, {"y", 2}}, ByClass: map[string]int64{"z": 5, "b": 6}},
		{Device: 1, Name: "b"},
		{Device: 2, Name: "c", Causes: []cause{{"x", 3}}},
	}}
}

func TestFrom(t *testing.T) {
	want := `doc (all) schema:text share:share
  schema=x/1  share=50.0 %
summary (in short) ns:ns
  ns=1.5 µs
rows () device:id name:text at:ref low:flag times_count:count times_mean:ns kernels:text
  device=0  name=a  at=12  low=yes  times_count=2  times_mean=2.5 µs  kernels=k → l
  device=1  name=b  at=  low=  times_count=0  times_mean=0 ns  kernels=
  device=2  name=c  at=  low=  times_count=0  times_mean=0 ns  kernels=
rows_causes (why) device:id why:text ns:ns
  device=0  why=x  ns=1 ns
  device=0  why=y  ns=2 ns
  device=2  why=x  ns=3 ns
rows_by_class () device:id class:text ns:ns
  device=0  class=b  ns=6 ns
  device=0  class=z  ns=5 ns
doc_maybe () ns:ns
doc_ids () id:id
  id=3
  id=1
`
	list := From("doc", "all", sample())
	if got := dump(list); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	rows := Find(list, "rows")
	if l := rows.Line(0); l.Show("times_mean") != "2.5 µs" || l.Exact("times_mean") != "2500.5" || l.Str("name") != "a" || !slices.Equal(l.Value("kernels").List(), []string{"k", "l"}) || !rows.Line(1).Value("at").IsNull() {
		t.Error("a line does not give its cells")
	}
	if rows.Cols[5].About != "of all" || Find(list, "nothing") != nil {
		t.Error("what a column means is lost, or a table is found that is not there")
	}
	n := 0
	for l := range Find(list, "rows_causes").By("device")(rows.Line(0)) {
		n++
		if l.Share("ns", "ns") != "100.0 %" {
			t.Errorf("a share of itself is %s", l.Share("ns", "ns"))
		}
	}
	if n != 2 {
		t.Errorf("%d rows below the first", n)
	}
	for range rows.Lines(2) {
		n++
	}
	if n != 4 {
		t.Errorf("%d rows of the first two", n-2)
	}
}

func TestFromNothing(t *testing.T) {
	if From("x", "", nil) != nil || From("x", "", []row(nil)) != nil || From("x", "", (*doc)(nil)) != nil {
		t.Error("nothing gives tables")
	}
	if list := From("x", "", []row{}); len(list) == 0 || list[0].Rows != 0 {
		t.Error("an empty list gives no empty table")
	}
}

// TestNumbersNeedUnits: a number without a unit, or with an unknown one, does not get into a table.
func TestNumbersNeedUnits(t *testing.T) {
	for _, v := range []any{
		struct {
			N int `json:"n"`
		}{},
		struct {
			N float64 `json:"n" unit:"parsec"`
		}{},
		struct {
			N []inner `json:"n"`
		}{}, // the mean has the unit of a field around it, and there is none
		struct {
			N map[string]int `json:"n" entry:"k"`
		}{},
		struct {
			N int64 `json:"n" unit:"text"`
		}{},
	} {
		func() {
			defer func() {
				if e := recover(); e == nil || !strings.Contains(fmt.Sprint(e), "has the unit") {
					t.Errorf("%T: %v", v, e)
				}
			}()
			From("x", "", v)
		}()
	}
	defer func() {
		if e := recover(); e == nil || !strings.Contains(fmt.Sprint(e), "has no column") {
			t.Errorf("a column that is not there: %v", e)
		}
	}()
	From("x", "", head{})[0].Line(0).Show("ms")
}
