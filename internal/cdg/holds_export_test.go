package cdg

import (
	"slices"

	"overlay/internal/trace"
)

// DeviceHolds finds what device synchronisations wait for in two ways: along launches, and by a look at every stream for
// each of them.
func DeviceHolds(tr *trace.Trace) (along, plain []Hold, err error) {
	b, err := layOut(tr, &Options{})
	if err != nil {
		return nil, nil, err
	}
	g := b.applyRules()
	var syncs []ActID
	waited := map[[2]LaneID]ActID{}
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		if lane.Stream {
			continue
		}
		for c := lane.First; c < lane.Limit; c++ {
			if b.class(c) != deviceSync {
				continue
			}
			syncs = append(syncs, c)
			device := holder{b}.deviceOf(c)
			for s := range g.Lanes {
				key := [2]LaneID{LaneID(l), LaneID(s)}
				if !g.Lanes[s].Stream || !b.sameProcess(LaneID(s), LaneID(l)) || device != unknownDevice && g.Trace.Procs[g.Lanes[s].Proc].Device != device {
					continue
				}
				if op := b.lastLaunchedBefore(LaneID(s), c); op != NoAct && waited[key] != op+1 {
					waited[key] = op + 1
					plain = append(plain, Hold{c, op})
				}
			}
		}
	}
	holder{b}.deviceHolds(syncs, func(c, op ActID) { along = append(along, Hold{c, op}) })
	for _, list := range [][]Hold{along, plain} {
		slices.SortFunc(list, compareHolds)
	}
	return along, plain, nil
}
