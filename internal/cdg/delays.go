package cdg

import "slices"

// Delay is a delay as measured on a trace, ns, with the number of samples behind it.
type Delay struct {
	Min, Max int64
	Samples  int
	Spread   Spread
}

// Delays are those that the rules need.
type Delays struct {
	Launch Delay // launch call's start to operation's start
	Kernel Delay // operation's end to the next operation's start on a stream
	Event  Delay // operation's end to the start of an operation on another stream that waited for it
	Sync   Delay // operation's end to the end of a call that waited for it
	Call   int64 // what a launch call usually takes, ns; 0: not known
	Own    int64 // what a thread does in an annotation or a frame next to a hand-off before the next border, ns; 0: not known
	Idle   int64 // the longest that a blocking call without anything to wait for takes, ns
}

// Spread is how a delay is spread: quantiles of its samples, from the least in 16 equal steps to the largest, ns.
type Spread [17]int64

// spreadSamples is of how many samples a spread is made; more are thinned out evenly.
const spreadSamples = 2048

// spreadOf returns the spread of samples; it leaves them as they are.
func spreadOf(samples []int64) (s Spread) {
	if len(samples) == 0 {
		return s
	}
	step := (len(samples) + spreadSamples - 1) / spreadSamples
	some := make([]int64, 0, spreadSamples)
	for i := 0; i < len(samples); i += step {
		some = append(some, samples[i])
	}
	slices.Sort(some)
	for i := range s {
		s[i] = some[i*(len(some)-1)/(len(s)-1)]
	}
	return s
}
