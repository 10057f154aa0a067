package ranks

import (
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
)

// TestDoing: time of a thread inside of a data loader counts as that of the loader, however many frames are recorded there; beside it under its own name.
func TestDoing(t *testing.T) {
	tr, err := kineto.Parse([]byte(`{"traceEvents": [
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":1,"tid":1,"ts":0,"dur":1000},
{"ph":"X","cat":"user_annotation","name":"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__","pid":1,"tid":1,"ts":100,"dur":300},
{"ph":"X","cat":"python_function","name":"data.py(7): fetch","pid":1,"tid":1,"ts":110,"dur":280},
{"ph":"X","cat":"cpu_op","name":"aten::stack","pid":1,"tid":1,"ts":120,"dur":200},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":500,"dur":200}]}`), "t.json", kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.Build(tr, cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := critpath.Exact(g)
	if err != nil {
		t.Fatal(err)
	}
	s := Summarize(g, p, Identity{Source: "t.json"})
	busy := map[string]int64{}
	for _, x := range s.Spent {
		busy[s.Names[x.Name]] += x.Busy
	}
	if got := busy["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"]; got != 300_000 || busy["aten::mm"] != 200_000 || busy["aten::stack"] != 0 {
		t.Errorf("the loader took %d ns, by name %v", got, busy)
	}
}
