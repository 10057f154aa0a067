package kineto

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/trace"
)

// told is what a visitor of args was told, a line each; begins says that one is an argument of the top level.
func told(raw string, g *guide, known func(key, text string) bool, log func(line, text string, begins bool)) {
	depth := 0
	readArgs([]byte(raw), g, known, func(key string, v trace.Value) bool {
		begins := depth == 0
		switch v.Kind {
		case trace.Object, trace.Array:
			depth++
		case trace.End:
			depth--
			log("end", v.Text, begins)
			return true
		}
		log(fmt.Sprintf("%d %q %x %q", v.Kind, v.Text, v.Bits, key), "", begins)
		return true
	})
}

// TestKnownArgs reads args one after the other as who keeps what was made of nested ones, and remembers the keys: what is told, together with
// what is kept, must be the same as without both. Broken args come between the others.
func TestKnownArgs(t *testing.T) {
	again := 0
	rapid.Check(t, func(t *rapid.T) {
		blank := rapid.SampledFrom([]string{"", "", "", " ", "\n      ", "\x01"})
		key := rapid.SampledFrom([]string{`"External id"`, `"Ev Idx"`, `"Input Dims"`, `"a\"b"`, `"a"b"`, `"x`, `""`, `"` + strings.Repeat("long ", 20) + `"`})
		scalar := rapid.SampledFrom([]string{"1", "17958", "-5", "1.5e3", "null", "N/A", "", `""`, `"float"`, `"]"`, `"[1, {"`, `"a"b"`, `"\"]"`, `"x`, "99999999999999999999"})
		var value func(depth int) *rapid.Generator[string]
		value = func(depth int) *rapid.Generator[string] {
			return rapid.Custom(func(t *rapid.T) string {
				kind := rapid.IntRange(0, 3).Draw(t, "kind")
				if depth == 0 || kind < 2 {
					return scalar.Draw(t, "scalar")
				}
				var parts []string
				for range rapid.IntRange(0, 3).Draw(t, "members") {
					v := value(depth-1).Draw(t, "member")
					if kind == 3 {
						v = key.Draw(t, "key") + ":" + v
					}
					parts = append(parts, v)
				}
				inner := strings.Join(parts, rapid.SampledFrom([]string{",", ", ", ",,"}).Draw(t, "comma"))
				if kind == 3 {
					return "{" + inner + "}"
				}
				return "[" + inner + rapid.SampledFrom([]string{"]", "]", "]", "}", ""}).Draw(t, "end")
			})
		}
		values := rapid.SliceOfN(value(3), 1, 6).Draw(t, "values")
		values = append(values, "["+strings.Repeat("1,", maxKnown/2-rapid.IntRange(0, 2).Draw(t, "pairs short of the limit"))+"1]")
		g := newGuide()
		kept := map[string][]string{}
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			raw := "{"
			for i := range rapid.IntRange(0, 4).Draw(t, "args") {
				if i > 0 {
					raw += rapid.SampledFrom([]string{",", ",", ",,", ""}).Draw(t, "comma")
				}
				raw += blank.Draw(t, "blank") + key.Draw(t, "key") + blank.Draw(t, "blank") + ":" + blank.Draw(t, "blank") + rapid.SampledFrom(values).Draw(t, "value")
			}
			raw += blank.Draw(t, "blank") + rapid.SampledFrom([]string{"}", "}}", "} ]", ""}).Draw(t, "end")

			var want, got, nested []string
			told(raw, newGuide(), nil, func(line, _ string, _ bool) { want = append(want, line) })
			told(raw, g, func(key, text string) bool {
				lines, ok := kept[text]
				if ok {
					again++
					got = append(got, lines[0][:2]+fmt.Sprintf(`"" 0 %q`, key)) // the key may be another one
					got = append(got, lines[1:]...)
				}
				return ok
			}, func(line, text string, begins bool) {
				if begins {
					nested = nil
				}
				got, nested = append(got, line), append(nested, line)
				if text != "" {
					if len(text) > maxKnown {
						t.Fatalf("a text of %d bytes to keep", len(text))
					}
					kept[text] = nested
				}
			})
			if a, b := strings.Join(want, "\n"), strings.Join(got, "\n"); a != b {
				t.Fatalf("%s\ntold:\n%s\nwant:\n%s", raw, b, a)
			}
		}
	})
	if again == 0 {
		t.Error("nothing came twice")
	}
}

// TestGuideForgets gives a guide more keys than it holds, in an order that has no pattern.
func TestGuideForgets(t *testing.T) {
	g := newGuide()
	seed := uint64(1)
	for i := range 20_000 {
		raw := "{"
		for range 5 {
			seed = seed*6364136223846793005 + 1442695040888963407
			raw += fmt.Sprintf(`"key %d": %d,`, seed>>33%uint64(i/100+1), i)
		}
		var want, got []string
		told(raw+"}", newGuide(), nil, func(line, _ string, _ bool) { want = append(want, line) })
		told(raw+"}", g, nil, func(line, _ string, _ bool) { got = append(got, line) })
		if a, b := strings.Join(want, "\n"), strings.Join(got, "\n"); a != b {
			t.Fatalf("%s\ntold:\n%s\nwant:\n%s", raw, b, a)
		}
	}
	if len(g.keys) > guideKeys {
		t.Errorf("%d keys, at most %d", len(g.keys), guideKeys)
	}
}
