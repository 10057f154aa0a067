// Package fromsqlite reads the databases of NVIDIA's, AMD's and Ascend's own profilers: what `nsys export --type sqlite`
// makes of a report of Nsight Systems, rocpd, what rocprofv3 writes by default, and what torch_npu.profiler and msprof leave.
//
// Parse asks for the tables that are known and turns their rows into the text of a Kineto trace, which package kineto
// reads. Tables and columns that a version of the profiler does not have are left out; the evidence of a dependency is
// as good as the tables that are there. The first two have no operators of PyTorch, but ranges that the program marked (NVTX,
// ROCTX).
//
// # Sources
//
// The schema reference of Nsight Systems' exporter, data_views.sql of rocprofiler-sdk, and for Ascend the reference of
// msprof's and of ascend_pytorch_profiler's database and _fwk_api_db_parser.py of torch_npu. No real database was at hand.
package fromsqlite
