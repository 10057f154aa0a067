// Package kineto reads the Chrome JSON traces that the PyTorch profiler (Kineto) writes, of every generation, and the
// copies that other tools make of them.
//
// Parse is one pass over the bytes: events are cut, scanned into flat structs and linked; values that are rarely
// wanted are read later (Args, ArgInt). What is broken is mended, counted by reason with the
// first positions (Trace.Repairs), or, where nothing can be made of it, a SyntaxError with the byte offset.
//
// # Templates
//
// With runs of digits left out, hundreds of thousands of events have some hundred different texts. Such a text is a template: literals
// with holes, in a tree that each worker learns. What the first event of a template is, is found out member by member; of the
// others the literals are compared, and only the holes are read. What is broken, or fits no template, is read member by member.
//
// # Units
//
// Times are int64 ns made from the decimal digits of ts and dur (µs), never from a float: at 1.7e15 µs a float64 has
// steps of 250 ns. Offsets are bytes of the decompressed input.
//
// # Order
//
// Events keep their positions; symbols, tracks and processes are numbered by first appearance, so the result is the
// same for any number of workers.
//
// # Sources
//
// libkineto/src/output_json.cpp (layout, printing of times), include/ActivityType.h (categories), pytorch
// torch/csrc/profiler/kineto_shim.cpp, collection.cpp (ids and names), tb_plugin (old categories).
package kineto

import (
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Options of reading. The zero value mends what it can. Reading works on as many cores as GOMAXPROCS says.
type Options struct {
	Strict    bool         // the first repair is an error
	MaxExpand int64        // bytes that an input may expand to; 0 = in proportion to its size, see limits
	Cut       bool         // the input is known to end early: its compressed form was cut
	Ahead     *Ahead       // what Decompress read of the events on the way; nil for nothing
	From      int64        // bytes of the file of another format that the text was made from; 0 for none
	Form      vendors.Form // what that file is
	Process   string       // which of several processes that launched GPU work the caller wants; "" for none chosen

	Lend trace.Lender // memory for the events, and for what the trace is analysed with

	chunk int // bytes a piece; 0 = chunkSize. Tests make pieces small
}

// Limits on what the input controls.
const (
	maxDepth      = 128      // nesting of values
	maxString     = 64 << 20 // bytes of one string
	keptPerRepair = 5        // positions kept of each reason
)
