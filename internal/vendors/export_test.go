package vendors

import "overlay/internal/trace"

// The tests of this package know one vendor more than the program: all that the others need of it is this entry.
func init() { known = newIndex(append([]Vendor{madeUp}, table...)) }

var madeUp = Vendor{
	Name:  "Acme Wafer",
	Marks: Marks{Starts: []string{"acmeFire"}},
	Categories: map[trace.Kind][]string{
		trace.Runtime:    {"acme_calls"},
		trace.Kernel:     {"acme_work"},
		trace.SyncRecord: {"acme_wait"},
	},
	Syncs: []string{"acme_wait"},
	Calls: []Call{
		{Verb: KernelLaunch, Parts: []string{"acmeFire"}},
		{Verb: StreamSync, Names: []string{"acmeJoin"}},
		{Verb: AsyncCopy, Parts: []string{"acmeCarry", "Later"}},
	},
	Endings: []string{"_x2"},
	Libraries: []Library{{Name: "ACCL", Marks: Marks{Starts: []string{"accl"}}, Kernels: "accl", Kernel: "accl_v[0-9]+_", Backend: "accl",
		Threads: "pt_accl_"}},
	Processes:  []Process{{Name: "Acme Board", Kind: trace.Kernel, DeviceBits: 3}, {Name: "Acme Host", With: "Acme Board", Kind: trace.CPUOp}},
	Devices:    []string{"WAFER"},
	Rows:       []string{"Acme Bus"},
	Flows:      []string{"acme_arrow"},
	Words:      "acme fire carry later accl",
	Namespaces: []string{"acme::detail::"},
	Functors:   []string{`\w+AcmeWork`},
}

// EachCategory visits what the entries say of categories.
func EachCategory(visit func(category string, kind trace.Kind)) {
	for _, v := range known.vendors {
		for kind, list := range v.Categories {
			for _, c := range list {
				visit(c, kind)
			}
		}
	}
}
