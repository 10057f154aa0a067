// Package fromsqlite reads the databases of NVIDIA's and AMD's own profilers: what `nsys export --type sqlite` makes of
// a report of Nsight Systems, and rocpd, what rocprofv3 writes by default.
//
// Parse asks for the tables that are known and turns their rows into the text of a Kineto trace, which package kineto
// reads. Tables and columns that a version of the profiler does not have are left out; the evidence of a dependency is
// as good as the tables that are there. Neither has operators of PyTorch, but ranges that the program marked (NVTX,
// ROCTX).
//
// # Sources
//
// The schema reference of Nsight Systems' exporter, and data_views.sql of rocprofiler-sdk. No real database was at hand.
package fromsqlite
