// Package critpath finds the critical path of a graph: the chain of activities and delays that fills the window from its
// start to its end.
//
// # Methods
//
// Exact walks back from the end of the window over the stored waits: on a stream to what bound the start of an operation, on
// a thread to what the thread waited for; without a wait the time is the thread's own. A recorded run has fixed times, so of
// several things that an activity had to wait for the one that was over last bound its start, and a walk finds the path
// where other tools search for the longest one. CTDA is Algorithm 1 of the CTDA-CPA paper over aggregated nodes; hta.Method
// follows HTA 0.6 with its faults, so that numbers can be compared.
//
// # One rule of the walk
//
// A slice that was left by a hand-off gets the time in which the other thread itself waits long, for nobody or for something
// older. At the same point of the other thread the answer differs with the slice from which the walk came, so the graph
// cannot hold it: it stores the other thread's wait and the slice's pieces. A replay sees the wait in the other thread, and
// only the path says on whose account it goes.
//
// # Invariants
//
// The segments of an exact path tile the window to the ns, edges lead forward, and marks sum to the time that is owned
// (testtrace/pathcheck). A path is packed, some seven bytes a segment with its edge (tape.go).
package critpath
