// Package history says what changed in the runs of one program, and when. A run is boiled down to a few hundred numbers out of the summaries of
// its ranks (Of): what a step takes, the work of devices and threads, by job, host and rank; how long collectives carry their data; the time of
// each name. Each of these is a series over the runs (Analyse), which is searched for changes (Changes), or says what the next run is to take
// (Past). It knows no files; its tables (Table, FromTable) are kept beside the summaries.
package history
