package frompftrace_test

import (
	"fmt"
	"os"
	"testing"

	"overlay/internal/frompftrace"
	"overlay/internal/kineto"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// TestRealMonitor: numbers of a file of PyTorch's exporter that were read from it by other means. 109 of its 225 flows have
// one end only: they begin at an operation of a graph that no recorded one waited for.
func TestRealMonitor(t *testing.T) {
	src, err := os.ReadFile(corpus.World(t, "attention-gym__training_loop_monitor.pftrace"))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := frompftrace.Parse(src, "t.pftrace", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	ops, alone, nodes, annotated := 0, 0, 0, 0
	for i := range tr.Events {
		e, id := &tr.Events[i], trace.EventID(i)
		if e.Ph != 'X' || !e.Kind.Device() {
			continue
		}
		ops++
		if tr.Launch(id) == trace.NoEvent {
			alone++
		}
		if _, ok := tr.Arg(id, "graph node id"); ok {
			nodes++
		}
		if _, ok := tr.Arg(id, "annotation"); ok {
			annotated++
		}
	}
	got := fmt.Sprintf("%d operations, %d without launch, %d nodes of graphs, %d annotated, %d edges, %d repairs", ops, alone, nodes, annotated, len(tr.GraphEdges), len(tr.Repairs))
	if want := "225 operations, 0 without launch, 213 nodes of graphs, 213 annotated, 101 edges, 0 repairs"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
