// Package overlay decides what is drawn of an analysed trace: marks on events, rows, arrows, attributes. contract.go has every
// name that users rely on.
//
// A path has as many segments as a trace has events, so the slices of its rows are never kept: a SliceMaker makes them when
// the writer asks, and arrows are chosen among the edges of the path. Rows nest, and arrows stay within the limits of the
// viewers. Perfetto swaps the durations of slices that overlap in part, without a word, so its writer splits each row into
// lanes that nest; Chrome's JSON keeps the input as it is.
package overlay
