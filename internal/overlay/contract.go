package overlay

// This file holds the names that users, queries and scripts rely on: what stands in both output formats beside the
// input's own. They change only together with their tests and the documentation.

// Categories of what is added. No profiler writes them; a later run knows by them what to take out.
const (
	CategorySummary  = "critical_path_summary"
	CategoryPath     = "critical_path" // segments, and arrows of Chrome's format
	CategoryNodes    = "cdg"
	CategoryAnalysis = "critical_path_analysis"
	CategoryGhost    = "critical_path_what_if" // of simulated runs
)

// Names of the added tracks.
const (
	TrackRoot     = "Critical path"
	TrackSegments = "Path segments"
	TrackNodes    = "Dependency graph"
	TrackHost     = "CDG host"
	trackStream   = "CDG " // + "stream 7"

	TrackAdvice = "Advice"        // below it a row for each finding, named by its rule and its gain
	TrackRanks  = "Ranks"         // of a job: a strip a rank
	TrackSteps  = "Steps x ranks" // of a job: how much of each step others waited for each stage and rank

	TrackGhost         = "What if: " // + the scenario
	TrackGhostSegments = "Path segments then"
)

// Marks: arguments on events of the input.
const (
	ArgCritical   = "critical"
	ArgCriticalNS = "critical_ns"
	ArgID         = "critical_id"
	ArgNext       = "critical_next"
	ArgTotalNS    = "critical_total_ns"
	ArgNode       = "cdg_node"
)

// Arguments on operations that a graph replayed: its number and their place in it, and what the capture of the graph recorded.
const (
	ArgPlace    = "graph_place"
	ArgOperator = "graph_operator"
	ArgModule   = "graph_module"
	ArgLine     = "graph_line"
	ArgShapes   = "graph_shapes"
)

// Arguments of added slices.
const (
	ArgClass          = "class" // and a number for each class, as "gpu_compute_ns"
	ArgKind           = "kind"
	argEvidence       = "evidence"
	argResource       = "resource"
	ArgEvent          = "event" // position in the input
	argPhase          = "phase"
	argEvents         = "events"
	argBusyNS         = "busy_ns"
	argNodeCriticalNS = "node_critical_ns" // never critical_ns: sums over critical slices would count it twice
	argShift          = "shift_ns"         // of a simulated run: later than recorded
	argRecordedNS     = "recorded_ns"      // of a simulated run: how long it was
	argAdvice         = "advice_id"        // the rule
	argGainNS         = "gain_ns"          // of the finding, not of the slice
	argTogetherNS     = "together_ns"      // the window without all that was found
	argFloorNS        = "floor_ns"         // the window if the CPU took no time
	ArgExactDurNS     = "exact_dur_ns"     // where a writer had to shorten a slice
	ArgRank           = "rank"
	ArgInstance       = "instance"       // a collective of a job, as in the report
	ArgCausedNS       = "caused_wait_ns" // that others waited for it
	ArgWaitNS         = "wait_ns"
	ArgOwnNS          = "own_ns"
	ArgExcessNS       = "excess_ns"
)

// Arguments of arrows in Chrome's format.
const (
	ArgArrowType     = "type"
	ArgArrowWeight   = "weight"
	ArgArrowInferred = "inferred"
	ArgArrowReversed = "reversed"
	ArgArrowStandIn  = "stand_in" // "from", "to", "both": ends on the row Path segments
)

// Attributes of the trace.
const (
	AttrPrefix     = "overlay."
	AttrVersion    = "overlay.version"
	AttrMethod     = "overlay.method"
	AttrBoundBy    = "overlay.bound_by"
	AttrWindow     = "overlay.window_ns"
	AttrStart      = "overlay.window_start_ns"
	AttrEnd        = "overlay.window_end_ns"
	AttrSegments   = "overlay.path_segments"
	AttrDrawn      = "overlay.flows_drawn"
	AttrLeftOut    = "overlay.flows_left_out"
	AttrAnnotation = "overlay.annotation"
	AttrInstance   = "overlay.instance"
	AttrSlim       = "overlay.slim"
	AttrCarried    = "overlay.carried_in"
)

// Attributes of the picture of a job.
const (
	AttrJobRanks = "overlay.job_ranks" // with a trace
	AttrJobWorld = "overlay.job_world"
	AttrJobDrawn = "overlay.job_drawn" // with their events
)

// IsMark reports whether an argument on an event of the input was added to it.
func IsMark(key string) bool {
	switch key {
	case ArgCritical, ArgCriticalNS, ArgID, ArgNext, ArgTotalNS, ArgNode, ArgPlace, ArgOperator, ArgModule, ArgLine, ArgShapes:
		return true
	}
	return false
}

// addedCategory reports whether a category is one of those that are added.
func addedCategory(cat string) bool {
	switch cat {
	case CategorySummary, CategoryPath, CategoryNodes, CategoryAnalysis, CategoryGhost:
		return true
	}
	return false
}
