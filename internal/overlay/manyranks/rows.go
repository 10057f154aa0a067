package manyranks

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"overlay/internal/critpath"
	"overlay/internal/overlay"
	"overlay/internal/ranks"
	"overlay/internal/tables"
)

// Colours of strips, as strings whose hash the viewer takes (see overlay.ClassColor).
const (
	criticalColor = "critical#2796" // where the path runs
	waitColor     = "off#15212"     // pale
)

// heatColors are eight steps of one violet, the lighter the less of a step others waited: hue 269 to 271, lightness 79 to 41.
var heatColors = [8]string{"wait#2293", "wait#9546", "wait#152494", "wait#10395", "wait#18016", "wait#77697", "wait#15990", "wait#52355"}

// How many strips there are.
const (
	mostInOrder = 64      // up to so many ranks, strips are in order of rank; of more the worst come first
	mostStrips  = 256     // of more ranks the worst, those that are drawn, and some of the others have one
	worstStrips = 32      // of those, the worst
	mostPieces  = 300_000 // of all strips; where there are more, short ones are joined
)

// shown lists the members that have a strip, in the order in which they are drawn.
func (p *Picture) shown() []int32 {
	j := p.j
	all := make([]int32, len(j.Members))
	for m := range all {
		all[m] = int32(m)
	}
	if len(all) <= mostInOrder {
		return all
	}
	path := make([]int64, len(all))
	for i := range j.Path {
		path[j.Path[i].Member] += j.Path[i].End - j.Path[i].Start
	}
	slices.SortStableFunc(all, func(a, b int32) int {
		return cmp.Or(cmp.Compare(path[b], path[a]), cmp.Compare(j.Waits.ByMember[b].Caused, j.Waits.ByMember[a].Caused), cmp.Compare(a, b))
	})
	if len(all) <= mostStrips {
		return all
	}
	take := map[int32]bool{}
	for i, m := range all {
		if i < worstStrips || p.o.Drawn != nil && p.o.Drawn[m] {
			take[m] = true
		}
	}
	every := (len(all) + mostStrips - 1) / max(mostStrips-len(take), 1)
	for i := 0; i < len(all) && len(take) < mostStrips; i += max(every, 1) {
		take[all[i]] = true
	}
	return slices.DeleteFunc(all, func(m int32) bool { return !take[m] })
}

// stripTracks adds the group of strips, and the arrows between them.
func (p *Picture) stripTracks() {
	j, shown := p.j, p.shown()
	p.strips = make([]ranks.Strip, len(j.Members))
	pieces := 0
	for _, m := range shown {
		p.strips[m] = j.Strip(m)
		pieces += len(p.strips[m])
	}
	for least := (j.Window[1] - j.Window[0]) / 20_000; pieces > mostPieces; least *= 2 {
		pieces = 0
		for _, m := range shown {
			p.strips[m] = p.strips[m].Thin(least)
			pieces += len(p.strips[m])
		}
		if least > (j.Window[1]-j.Window[0])/8 {
			break // what is left is the path
		}
	}
	group := len(p.Tracks)
	about := "A strip for each rank, from left to right: pale where it waits, named after the rank for which; purple where a collective transfers; else the class of its own work.\n" +
		"Red is where the path over the ranks runs. Arrows lead from the rank that came last into a collective to the one that waited for it.\n" + overlay.Legend
	if len(shown) < len(j.Members) {
		about += fmt.Sprintf("\n%d of %d ranks: those with most of the path first, those that are drawn, and some of the others.", len(shown), len(j.Members))
	} else if len(shown) > mostInOrder {
		about += "\nThose with most of the path first."
	}
	p.Tracks = append(p.Tracks, overlay.Track{Name: overlay.TrackRanks, Parent: 0, Description: about})
	place := map[int32]int{}
	for _, m := range shown {
		place[m] = len(p.Tracks)
		p.Tracks = append(p.Tracks, overlay.Track{Name: p.rankName(m), Parent: group, Category: overlay.CategorySummary, Maker: &stripRow{p, p.strips[m]}})
	}
	if p.o.Flows != overlay.FlowsNone {
		p.jumps(place)
	}
	for i := range p.Tracks {
		slices.SortFunc(p.Tracks[i].Ends, func(a, b overlay.ArrowEnd) int { return cmp.Or(cmp.Compare(a.Slice, b.Slice), cmp.Compare(a.ID, b.ID)) })
	}
}

// thenTracks adds what would have been: a group for each scenario, with the strips of the ranks at the times of its replay.
func (p *Picture) thenTracks() {
	for i := range p.o.Then {
		x, group := &p.o.Then[i], len(p.Tracks)
		verdict := tables.ShortDuration(x.Window) + " instead of " + tables.ShortDuration(x.Window+x.Saved)
		p.Tracks = append(p.Tracks, overlay.Track{Name: overlay.TrackGhost + x.Name, Parent: 0, Category: overlay.CategoryGhost,
			Description: "The job as it would have been: a strip for each rank at the times of the replay. " + x.Name + ".",
			Slices:      []overlay.Slice{{Start: p.j.Window[0] - p.Origin, Dur: x.Window, Name: verdict, Color: critpath.ClassUntraced.ViewerColor()}}})
		for _, m := range p.shown() {
			p.Tracks = append(p.Tracks, overlay.Track{Name: p.rankName(m), Parent: group, Category: overlay.CategoryGhost, Maker: &stripRow{p, x.Strips[m]}})
		}
	}
}

func (p *Picture) end(track int, slice int32, id uint32) {
	t := &p.Tracks[track]
	t.Ends = append(t.Ends, overlay.ArrowEnd{Slice: slice, ID: id})
}

// rankName names the row of a rank, with its host where several are known.
func (p *Picture) rankName(m int32) string {
	name := "rank " + strconv.Itoa(int(p.j.Members[m].Rank))
	host := p.j.Members[m].Host
	if host != "" && slices.ContainsFunc(p.j.Members, func(x ranks.Member) bool { return x.Host != host }) {
		name += " on " + host
	}
	return name
}

// stripRow draws a strip.
type stripRow struct {
	p *Picture
	s ranks.Strip
}

func (r *stripRow) ForOne() overlay.SliceMaker { return r }

func (r *stripRow) Len() int { return len(r.s) }

func (r *stripRow) Span(i int) (start, dur int64) {
	return r.s[i].Start - r.p.Origin, r.s[i].End - r.s[i].Start
}

func (r *stripRow) Look(i int) (name, color string) {
	x := &r.s[i]
	switch x.Part {
	case ranks.InWait:
		name, color = "wait for rank "+strconv.Itoa(int(r.p.j.Members[x.Whom].Rank)), waitColor
	case ranks.Transfers:
		name, color = "transfer", critpath.ClassComm.ViewerColor()
	case ranks.Collective:
		name, color = "communication", critpath.ClassComm.ViewerColor()
	case ranks.Late:
		return "not recorded: the trace begins late", critpath.ClassUntraced.ViewerColor()
	case ranks.Absent:
		name, color = "wait for a rank without a trace", waitColor
	default:
		name, color = x.Class.Words(), x.Class.ViewerColor()
		if d := x.End - x.Start; float64(x.Most) < 0.995*float64(d) {
			name += " " + tables.WholePercent(x.Most, d)
		}
	}
	if x.Path {
		color = criticalColor
	}
	return name, color
}

func (r *stripRow) Args(i int, to *[overlay.MaxArgs]overlay.Arg) (n int) {
	x := &r.s[i]
	add := func(a overlay.Arg) {
		to[n] = a
		n++
	}
	if x.Part == ranks.Works {
		add(overlay.Arg{Key: overlay.ArgClass, Str: x.Class.String(), IsStr: true})
	}
	if x.Part == ranks.InWait || x.Part == ranks.Transfers {
		in := &r.p.j.Instances[x.Instance]
		kind := r.p.j.Members[r.p.j.Of[in.First].Member].Kinds[in.Kind]
		add(overlay.Arg{Key: "collective", Str: in.Coll.String(), IsStr: true})
		add(overlay.Arg{Key: overlay.ArgInstance, Int: int64(x.Instance)})
		if b := kind.Bytes(); b > 0 {
			add(overlay.Arg{Key: "bytes", Int: b})
		}
	}
	return n
}

// stepTracks adds the group of steps: a row for each stage of a pipeline and each rank, a slice a step, coloured by how long the other ranks waited for it.
func (p *Picture) stepTracks(v *ranks.Verdict) {
	group := len(p.Tracks)
	steps := slices.DeleteFunc(slices.Clone(v.Steps), func(s ranks.JobStep) bool {
		return s.Duration <= 0 || s.Start < p.j.Window[0] || s.Start >= p.j.Window[1]
	})
	if len(steps) == 0 {
		return
	}
	type line struct {
		name    string
		members []int32
	}
	var lines []line
	stageOf := p.j.StageOf()
	for st := range slices.Max(stageOf) + 1 {
		l := line{name: "stage " + strconv.Itoa(st)}
		for m, of := range stageOf {
			if of == st {
				l.members = append(l.members, int32(m))
			}
		}
		lines = append(lines, l)
	}
	for _, m := range p.shown() {
		lines = append(lines, line{p.rankName(m), []int32{m}})
	}
	most := leastHeat
	for i := range steps {
		for _, l := range lines {
			most = max(most, steps[i].Blame(l.members...))
		}
	}
	p.Tracks = append(p.Tracks, overlay.Track{Name: overlay.TrackSteps, Parent: 0,
		Description: "How much of each step each other rank waited for a rank or a stage, on the average: the darker, the more; darkest is " + tables.FormatShare(most) +
			".\nwait_ns is what it waited itself, own_ns its own work on its own path, excess_ns what it worked more than its peers."})
	for _, l := range lines {
		t := overlay.Track{Name: l.name, Parent: group, Category: overlay.CategorySummary}
		for i := range steps {
			s := &steps[i]
			blame := s.Blame(l.members...)
			end := min(s.Start+s.Duration, p.j.Window[1])
			args := []overlay.Arg{{Key: "step", Int: int64(s.Number)}}
			if len(l.members) == 1 {
				m := l.members[0]
				args = append(args, overlay.Arg{Key: overlay.ArgCausedNS, Int: s.Caused[m]}, overlay.Arg{Key: overlay.ArgWaitNS, Int: s.Wait[m]},
					overlay.Arg{Key: overlay.ArgOwnNS, Int: s.Own[m]}, overlay.Arg{Key: overlay.ArgExcessNS, Int: s.Excess[m]})
			}
			heat := min(int(blame/most*float64(len(heatColors))), len(heatColors)-1)
			t.Slices = append(t.Slices, overlay.Slice{Start: s.Start - p.Origin, Dur: end - s.Start, Name: tables.FormatShare(blame) + " waited for", Color: heatColors[heat], Args: args})
		}
		p.Tracks = append(p.Tracks, t)
	}
}

// leastHeat is what share of a step has to be waited for the darkest colour: below that it is noise.
const leastHeat = 0.05
