package cdg

import "overlay/internal/trace"

// findBusy lets kernels wait until their device is free, where it never runs two at once: streams do not wait for each other unless that
// was recorded, so what else a kernel waited for is the device.
func (b markWaits) findBusy() {
	d := b.d
	recorded := map[foundDep]bool{}
	for _, f := range b.found {
		recorded[f] = f.Rule == EventWait
	}
	before, shared := map[trace.ProcID]ActID{}, map[trace.ProcID]bool{} // per device: the kernel that ended last, and whether two ran at once
	var found []foundDep
	for _, k := range b.byEnd {
		act := &d.Acts[k]
		dev := d.Lanes[act.Lane].Proc
		if b.event(k).Kind != trace.Kernel || act.End == act.Start {
			continue
		}
		if x, ok := before[dev]; ok {
			shared[dev] = shared[dev] || d.Acts[x].End > act.Start+b.clockGrain
			launched := b.launch[k] == NoAct || b.launchedAt(k, b.launch[k]) < d.Acts[x].End
			if d.Acts[x].Lane != act.Lane && launched && !recorded[foundDep{k, dep{x, EventWait, BySyncEvent}}] {
				found = append(found, foundDep{k, dep{x, EventWait, ByAlignment}})
			}
		}
		before[dev] = k
	}
	for _, f := range found {
		if !shared[d.Lanes[d.Acts[f.to].Lane].Proc] {
			b.add(f.to, f.From, f.Rule, f.Evidence)
		}
	}
}
