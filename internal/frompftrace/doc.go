// Package frompftrace reads profiler traces in Perfetto's protobuf format: those of PyTorch's exporter (Cuspy), of AMD's
// rocprofv3 and rocprof-sys, of programs that use Perfetto's SDK in the same way, and this program's own.
//
// Parse turns the packets into the text of a Kineto trace and gives that to package kineto. So all that is known of
// Kineto's traces holds for these too, and what works on text (rewriting names, writing Chrome's format) needs no second
// way. Two passes: one goes through the packets in the order of the file, since strings, clocks and defaults of a sequence
// depend on it, and notes where events stand; the other writes them, on all processors.
//
// # Order
//
// The position of an event is that of its BEGIN, instant, counter value or render stage among those of the file. Flows
// and names of rows come after all of them.
//
// # What is mended
//
// See Reason…; everything that could not be used is counted, with the byte offset of the first few.
//
// # Sources
//
// protos/perfetto/trace of google/perfetto (fields), its importers (rules of sequences, clocks and tracks),
// torch/csrc/profiler/cupti/monitor_pftrace.cpp and torch/profiler/_cuspy of PyTorch, generatePerfetto.cpp of
// rocprofiler-sdk. Recorded files were at hand of PyTorch's exporter alone, before it
// wrote render stages: the other layouts are known from their sources.
package frompftrace

// Reasons of repairs.
const (
	ReasonTruncated      = "truncated"               // the file ends inside a packet
	ReasonBroken         = "broken_packet"           // a packet, or a message in it, is no valid protobuf
	ReasonBrokenTail     = "broken_tail"             // what follows is no packet
	ReasonNeedsState     = "needs_incremental_state" // the recorder lost the packet that this one builds on
	ReasonUnknownName    = "unknown_name"            // a string is referred to that was never sent
	ReasonUnknownClock   = "unknown_clock"           // no snapshot ties the clock of the time stamp to the others
	ReasonNoTime         = "no_timestamp"
	ReasonUnclosed       = "unclosed" // BEGIN without END: kept, not analysed
	ReasonUnopened       = "unopened" // END without BEGIN
	ReasonPairsByTime    = "pairs_by_time"
	ReasonNegative       = "negative_duration"
	ReasonUnknownType    = "unknown_event_type"
	ReasonConflict       = "correlation_conflict" // a launch and its operation carry different correlations
	ReasonUnknownTrack   = "unknown_track"        // nothing describes the row of an event
	ReasonTooDeep        = "too_deep"             // an argument nests deeper than maxDepth
	ReasonBrokenArgument = "broken_argument"
)

// maxDepth bounds the nesting of arguments: what kineto reads, less the event around them.
const maxDepth = 60
