// Package ranks analyses a job of which each rank left a trace of its own. Summarize makes of one rank what the others
// need to know of it, Join puts the summaries of all ranks together, Judge says what is wrong with the job.
//
//	graph.Graph, critpath.Path ──Summarize──▶ Summary ─┐
//	                                          Summary ─┼─Join──▶ Job ──Judge──▶ Verdict
//	                                          Summary ─┘
//
// Join makes values of which each holds the one before: the ranks side by side (Gathered), which of their operations are one
// collective, and their clocks, solved from when collectives end (Matched), who waited for whom in each collective (Clocked), and
// the walk back over all ranks from the end of the job (Job). What is not known is counted: ranks without a trace, time before a rank's trace begins, collectives that could not be matched.
//
// # Units
//
// Times are int64 ns. Those of a Summary are on the rank's own clock, since 1970 where the trace says so; those of a Job
// on the job's clock, which is that of the lowest rank of each set of ranks that share collectives.
package ranks
