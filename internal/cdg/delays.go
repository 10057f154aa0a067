package cdg

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
