package cdg

import (
	"fmt"

	"overlay/internal/trace"
)

// CheckAssumedLaunches compares what is found for operations without a launch by a look at every thread and by going
// through all threads in order of time, and counts what is found: launch calls, and ops.
func CheckAssumedLaunches(tr *trace.Trace, o Options) (calls, ops int, err error) {
	b, err := layOut(tr, &o)
	if err != nil {
		return 0, 0, err
	}
	b.classifyCalls()
	b.linkStreams()
	b.relateStreams()
	b.describeThreads()
	b.readSyncRecords()
	b.calibrateLaunches()
	var asks []launchAsk
	last := NoLane
	for k := b.firstOp; int(k) < len(b.d.Acts); k++ { // all without a launch, however well explained
		if l := b.launch[k]; l != NoAct {
			last = b.d.Acts[l].Lane // of any stream: that may be of another process
		} else {
			asks = append(asks, launchAsk{k, last, false})
		}
	}
	f := b.newLaunchFinder()
	one, swept := f.oneByOne(asks), f.sweep(asks)
	for i, ask := range asks {
		if one[i] != swept[i] {
			return 0, 0, fmt.Errorf("operation %q at %d: activity %d by a look at every thread, %d in order of time",
				tr.Name(b.d.Acts[ask.op].Event), b.d.Acts[ask.op].Start, one[i], swept[i])
		}
		switch {
		case one[i] == NoAct:
		case b.d.Call(one[i]):
			calls++
		default:
			ops++
		}
	}
	return calls, ops, nil
}
