// Package cdg builds the computation dependency graph of a trace: where activities lie (Layout), and what each of them
// waited for (Graph). It infers what a trace does not record, and says on what evidence.
//
// # Two halves
//
// What was recorded is laid out first and changes no more: activities in lanes, launches with their operations, what
// encloses what. A thread may hold slices that do not nest: each instant of it belongs to the slice that started last,
// so such slices are no special case. Then the rules, one a file and all in the list of rules.go, add waits. A rule is a
// value: find looks for its waits, binds and holds say when one of them is what released an activity.
//
//	Layout   lanes, activities, what encloses what; it outlives the rest
//	Graph    *Layout, Pieces, Waits, Delays
//	Wait     {At, Lag, From, Rule, Evidence, Bound, Note}   24 bytes without a pointer; the point that waited is At + Lag
//
// # Waits
//
// An operation has a row of waits for its start, a slice one for its end. All that were satisfied are kept; of those of an
// operation exactly one is Bound: it was over last. An operation that nothing known released has a wait of the rule
// Unexplained; one that started long after its release carries the note Late.
//
// A border between two pieces of a thread has what the thread waited for until then (Begun): an operation, another thread,
// or nobody known (Untraced, a gap). NoWait is program order: the time of the piece before was the thread's own. A blocking
// call ends where its piece ends, so its reason is found there. Points inside a piece in which a thread waits are told the
// same way (Inside): the operation of a launch call without length, the hand-off of another thread, the end of the window.
//
// All hand-offs of a process are answered in one pass over its threads in order of time (turns.go). Threads that end work at
// one instant may seem to wait for each other; such a circle is broken there, so waits have an order: that of recorded times.
//
// A piece is time of a thread that belongs to one activity; a span is time that nobody is said to own.
//
// # Invariants
//
// Every start of an operation and every border of a thread has one reason, and in one pass in order of recorded times all
// recorded times follow from durations and waits alone, to the ns (TestForward…). CheckWaits of the tests holds the rest. Nothing
// in a Graph depends on who asks, or in which order. Times are int64 ns.
//
// Two examples of what is inferred. Without synchronisation records
//
//	stream 7   [A 0..50]
//	stream 20                       [N 52..90]      launched at 5, its stream empty before
//
// launch and stream would have let N start at 10. N started at 52, and A on another stream ended at 50: N waited for A, on
// the evidence of a cudaStreamWaitEvent before its launch, or else of their times alone. And with
//
//	main      [fwd 0..10]                 [opt 41..50]
//	autograd               [bwd 11..40]
//
// the main thread has a gap before opt, in which the autograd thread ended work and fell idle, and the two never work at the
// same time: autograd handed over. Watchdogs and loaders that run beside the main thread fail one of the three conditions.
package cdg
