package perfetto

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

// seeds are small traces of every kind of row and event, and one with odd clocks and a circle of parents.
func seeds(t testing.TB) [][]byte {
	fill := func(b *Body, ref int32) {
		b.Name([]string{"add", "mul"}[ref%2])
		b.Category("cat")
		b.Color("critical#2796")
		b.Int("critical", 1)
	}
	var list [][]byte
	for _, tr := range []*Trace{
		{},
		{Attrs: []Attr{{Key: "a", Int: 3}, {Key: "b", Str: "x", IsStr: true}}, Tracks: []Track{
			{Kind: Row, Parent: -1, Name: "top", Explicit: true, Items: []Item{{Start: 5, Dur: 10}, {Start: 7, Dur: 20, Ref: 1}}, Fill: same(fill)},
			{Kind: Process, Parent: -1, Name: "p", PID: 42, Labels: []string{"l"}},
			{Kind: Thread, Parent: 1, Name: "t", PID: 42, TID: 43, Items: []Item{{Start: 5, Dur: 0}, {Start: 6, Instant: true}}, Fill: same(fill)},
			{Kind: Counter, Parent: 1, Name: "c", Unit: "u", Points: []Point{{TS: 5, Int: 1, IsInt: true}, {TS: 9, Float: math.Inf(1)}}}}},
	} {
		var b bytes.Buffer
		if _, err := Write(&b, tr); err != nil {
			t.Fatal(err)
		}
		list = append(list, b.Bytes())
	}
	circle := appendDescriptor(nil, message(nil).uint(1, 1).uint(5, 2).str(2, "a"))
	circle = appendDescriptor(circle, message(nil).uint(1, 2).uint(5, 1).str(2, "b"))
	event := message(nil).uint(9, typeSliceBegin).uint(11, 1).str(23, "n").sub(4, message(nil).str(10, "k").sub(11, message(nil).str(10, "d").uint(4, 1)))
	return append(list, appendPacket(circle, message(nil).uint(8, 5).uint(10, 1).uint(13, 1).sub(11, event)), jsonArgument(`{"a":[1,{"b":"x"}]}`), jsonArgument("null"))
}

// jsonArgument is a trace of one instant with an argument that is written as JSON.
func jsonArgument(text string) []byte {
	event := message(nil).uint(9, typeSliceInstant).uint(11, 1).str(23, "n").sub(4, message(nil).str(9, text).str(10, "k"))
	return appendPacket(appendDescriptor(nil, message(nil).uint(1, 1).str(2, "a")), message(nil).uint(8, 5).uint(10, 1).uint(13, 1).sub(11, event))
}

// TestJSONArguments: the importer takes them apart like others, and drops what is no JSON.
func TestJSONArguments(t *testing.T) {
	for _, c := range []struct {
		text, want string
		bad        int
	}{
		{"[64, 1, 2]", "k[0]=64 k[1]=1 k[2]=2", 0},
		{`{"b.c":true,"a":{"x":null,"y":"z"},"n":18446744073709551615,"f":1.5}`, `k.a.y="z" k.b_c=true k.f=1.5 k.n=18446744073709551615`, 0},
		{"null", "", 1},
		{"[1", "", 1},
		{"1 2", "", 1},
	} {
		im, err := Parse(jsonArgument(c.text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range im.Args(0) {
			got = append(got, a.Key+"="+a.Value())
		}
		if im.CheckArgs(); strings.Join(got, " ") != c.want || im.Problems["track_event_parser_errors"] != c.bad {
			t.Errorf("%s: %s, problems %v", c.text, strings.Join(got, " "), im.Problems)
		}
	}
}

// FuzzRead reads any bytes, and holds what comes out against itself and against the glance.
func FuzzRead(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		g := GlanceAt(src, "critical#2796")
		im, err := Parse(src)
		if err != nil {
			return
		}
		im.CheckArgs()
		for i := range im.Slices {
			s := &im.Slices[i]
			if int(s.Track) >= len(im.Tracks) || s.Track < 0 || int(s.Parent) >= i && s.Parent >= 0 || s.Depth > maxStack || s.Dur < -1 {
				t.Fatalf("slice %d: %+v", i, *s)
			}
			if i > 0 && im.Slices[i-1].TS > s.TS {
				t.Fatalf("slice %d begins before the one before", i)
			}
		}
		for _, fl := range im.Flows {
			if im.Slices[fl.From].TS > im.Slices[fl.To].TS {
				t.Fatalf("flow %+v goes back", fl)
			}
		}
		if !slices.Equal(g.Attrs, im.Attrs) {
			t.Fatalf("glance sees %v, reader %v", g.Attrs, im.Attrs)
		}
	})
}

// TestDeepArguments: nesting that no stack holds is counted, not followed.
func TestDeepArguments(t *testing.T) {
	arg := message(nil).str(10, "k").uint(4, 1)
	for range 3_000 {
		arg = message(nil).str(10, "k").sub(11, arg)
	}
	event := message(nil).uint(9, typeSliceInstant).uint(11, 1).str(23, "n").sub(4, arg)
	im, err := Parse(appendPacket(nil, message(nil).uint(8, 5).uint(10, 1).uint(13, 1).sub(11, event)))
	if err != nil {
		t.Fatal(err)
	}
	if im.CheckArgs(); im.Problems["track_event_parser_errors"] == 0 {
		t.Errorf("problems %v", im.Problems)
	}
}
