package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overlay/internal/overlay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/viewer"
)

// The viewer itself cannot be had here, so this page stands in for it: rows of slices from left to right in the colours that the
// viewer makes of their strings, with their names cut at the right, and arrows.

// viewerHash is the hash of the viewer's colours: of numbers that lose digits above 2^53, as in JavaScript.
func viewerHash(s string, most int) int {
	h := int32(0x811c9dc5 & 0xfffffff)
	for _, c := range s {
		h ^= c
		h = int32(uint32(uint64(int64(math.Float64frombits(math.Float64bits(float64(h)*16777619)))) & 0xffffffff))
	}
	return int(math.Abs(float64(h))) % most
}

// viewerColor is hue and lightness of the viewer's colour for a string, in the space HSLuv at saturation 80.
func viewerColor(s string) (hue, light int) {
	return viewerHash(s, 360), 40 + viewerHash(s+"x", 40)
}

// rgb is a colour of HSLuv at saturation 80: the chroma is 80 % of what sRGB has at that hue and lightness.
func rgb(hue, light int) string {
	m := [3][3]float64{{3.240969941904521, -1.537383177570093, -0.498610760293}, {-0.96924363628087, 1.87596750150772, 0.041555057407175}, {0.055630079696993, -0.20397695888897, 1.056971514242878}}
	l, h := float64(light), float64(hue)*math.Pi/180
	y := math.Pow((l+16)/116, 3)
	if l <= 8 {
		y = l / 903.2962962
	}
	linear := func(chroma float64) (c [3]float64) {
		const u0, v0 = 0.19783000664283, 0.46831999493879
		u, v := chroma*math.Cos(h)/(13*l)+u0, chroma*math.Sin(h)/(13*l)+v0
		x := 9 * y * u / (4 * v)
		z := (9*y - 15*v*y - v*x) / (3 * v)
		for i := range c {
			c[i] = m[i][0]*x + m[i][1]*y + m[i][2]*z
		}
		return c
	}
	lo, hi := 0.0, 300.0
	for range 40 {
		mid := (lo + hi) / 2
		if c := linear(mid); min(c[0], c[1], c[2]) < 0 || max(c[0], c[1], c[2]) > 1 {
			hi = mid
		} else {
			lo = mid
		}
	}
	c := linear(0.8 * lo)
	var out [3]int
	for i, v := range c {
		if v = min(max(v, 0), 1); v <= 0.0031308 {
			v *= 12.92
		} else {
			v = 1.055*math.Pow(v, 1/2.4) - 0.055
		}
		out[i] = int(math.Round(v * 255))
	}
	return fmt.Sprintf("#%02x%02x%02x", out[0], out[1], out[2])
}

// TestViewerColors: the colours of the classes are those that were looked at, and the steps of the heat strip are of one hue,
// each darker than the one before by what an eye can see.
func TestViewerColors(t *testing.T) {
	if h, l := viewerColor("critical#2796"); h != 18 || l != 54 || !strings.HasPrefix(rgb(h, l), "#dc5") {
		t.Errorf("critical: hue %d, lightness %d, %s", h, l, rgb(h, l))
	}
	before := 100
	for _, s := range []string{"wait#2293", "wait#9546", "wait#152494", "wait#10395", "wait#18016", "wait#77697", "wait#15990", "wait#52355"} {
		h, l := viewerColor(s)
		if h < 269 || h > 271 || l > before-4 {
			t.Errorf("%s: hue %d, lightness %d after %d", s, h, l, before)
		}
		before = l
	}
}

// jobPage draws the rows of a job as the viewer does, expanded.
func jobPage(im *viewer.Imported, width int) string {
	const label, line = 170, 19
	first, last := int64(math.MaxInt64), int64(0)
	byTrack := map[int32][]int32{}
	for i := range im.Slices {
		s := &im.Slices[i]
		byTrack[s.Track] = append(byTrack[s.Track], int32(i))
		if s.Category == overlay.CategorySummary {
			first, last = min(first, s.TS), max(last, s.TS+s.Dur)
		}
	}
	scale := float64(width-label-10) / float64(max(last-first, 1))
	var b strings.Builder
	fmt.Fprintf(&b, `<!doctype html><meta charset="utf-8"><style>body{margin:0;font:11px Roboto,sans-serif;width:%dpx;position:relative}
.r,.s{position:absolute;height:%dpx;line-height:%dpx;overflow:hidden;white-space:nowrap}.r{left:4px;width:%dpx}.s{text-align:center;box-shadow:inset -1px 0 #fff8}svg{position:absolute;left:0;top:0}</style>`, width, line-1, line-1, label-8)
	y := 4
	place := map[int32][2]float64{}
	for _, t := range viewer.Rows(im) {
		tr := &im.Tracks[t]
		up := tr.Parent
		if !(tr.Name == overlay.TrackRoot || up >= 0 && (im.Tracks[up].Name == overlay.TrackRanks || im.Tracks[up].Name == overlay.TrackSteps) || tr.Name == overlay.TrackRanks || tr.Name == overlay.TrackSteps) {
			continue
		}
		fmt.Fprintf(&b, `<div class="r" style="top:%dpx">%s</div>`, y, html.EscapeString(tr.Name))
		deep := int32(0)
		for _, i := range byTrack[t] {
			s := &im.Slices[i]
			deep = max(deep, s.Depth)
			x := label + float64(s.TS-first)*scale
			place[i] = [2]float64{x, float64(y) + float64(s.Depth)*line + line/2}
			h, l := viewerColor(s.Color)
			ink := "#fff"
			if l > 65 {
				ink = "#000"
			}
			fmt.Fprintf(&b, `<div class="s d%d" style="left:%.2fpx;top:%dpx;width:%.2fpx;background:%s;color:%s">%s</div>`, s.Depth, x, y+int(s.Depth)*line, max(float64(s.Dur)*scale, 0.5), rgb(h, l), ink, html.EscapeString(s.Name))
		}
		y += line * (1 + int(deep))
	}
	fmt.Fprintf(&b, `<svg width="%d" height="%d">`, width, y)
	for _, f := range im.Flows {
		p, ok := place[f.From]
		q, ok2 := place[f.To]
		if ok && ok2 {
			fmt.Fprintf(&b, `<path class="arrow" d="M%.1f %.1f L%.1f %.1f" stroke="#a4300f" stroke-width="1.5" fill="none"/>`, p[0]+float64(im.Slices[f.From].Dur)*scale, p[1], q[0], q[1])
		}
	}
	b.WriteString("</svg>")
	return b.String()
}

// jobProbe posts whether the verdict can be read whole, and how many rows there are.
const jobProbe = `<script>addEventListener('load', () => {
  const all = s => [...document.querySelectorAll(s)];
  const top = all('.d0')[0];
  fetch('/result', {method: 'POST', body: JSON.stringify({verdict: top.textContent, cut: top.scrollWidth > top.clientWidth, rows: all('.r').length, arrows: all('.arrow').length})});
});</script>`

// TestBrowserJob: of a job with a slow rank, the first row says so, and can be read whole in a window of 1,300 pixels; below it
// there is a strip for each of 64 ranks.
func TestBrowserJob(t *testing.T) {
	browser := browserName(t)
	dir := t.TempDir()
	sim := testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Cause: "gpu", World: 64, PerHost: 8, Steps: 4, Seed: 5, Noise: 1})
	writeSimulated(t, sim, dir)
	im := jobImport(t, filepath.Join(dir, "*.json"))
	var got struct {
		Verdict      string
		Cut          bool
		Rows, Arrows int
	}
	page := jobPage(im, 1300)
	if shots := os.Getenv("OVERLAY_SHOTS"); shots != "" {
		os.WriteFile(filepath.Join(shots, "job.html"), []byte(page), 0o666)
	}
	s := servePage(t, false, page+jobProbe, nil, "")
	s.browse(t, browser, s.URL, &got)
	if !strings.Contains(got.Verdict, "GPU slow") || got.Cut {
		t.Errorf("the first row says %q, cut: %v", got.Verdict, got.Cut)
	}
	if got.Rows != 1+2*65 || got.Arrows == 0 {
		t.Errorf("%d rows, %d arrows", got.Rows, got.Arrows)
	}
}

// writeSimulated writes the traces of a simulated job into a folder.
func writeSimulated(t testing.TB, sim *testtrace.Job, dir string) {
	t.Helper()
	for r := range sim.Ranks {
		if text := sim.JSON(int32(r)); text != nil {
			if err := os.WriteFile(filepath.Join(dir, sim.Ranks[r].File), text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// jobImport runs overlay on the traces of a job and reads what it wrote.
func jobImport(t testing.TB, input string, flags ...string) *viewer.Imported {
	t.Helper()
	out := filepath.Join(t.TempDir(), "job.pftrace")
	var stdout, stderr bytes.Buffer
	if status := run(slices.Concat([]string{"overlay", "run", "-i", input, "-o", out}, flags), nil, &stdout, &stderr); status != 0 {
		t.Fatal(stderr.String())
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	im, err := viewer.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if len(im.Problems) > 0 {
		t.Errorf("problems: %v", im.Problems)
	}
	return im
}
