package advise

import (
	"slices"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// unknown lists what the trace does not tell, with what to record so that it does.
func unknown(r *run) []Unknown {
	out := []Unknown{}
	lacks := func(lacks bool, what, record string) {
		if lacks && record != "" { // what no profiler of this kind records is no news
			out = append(out, Unknown{what, record})
		}
	}
	how := func(lack vendors.Lack) string { return vendors.HowToRecord(r.tr.Recorder, lack) }
	lacks(!r.tr.Shapes, "FLOPs, bytes moved and the sizes of messages: shapes were not recorded", how(vendors.LacksShapes))
	frames := len(r.names[trace.Python]) > 0
	old := !frames && r.oldStacks()
	lacks(old, "lines of Python code, and what runs between operators: stacks stand on operators only, as PyTorch 1.9 to 1.11 wrote them, and are not read", "profile(with_stack=True) with a newer PyTorch, in a short run")
	lacks(!frames && !old, "lines of Python code, and what runs between operators: stacks were not recorded", how(vendors.LacksStacks))
	if len(r.ops) > 0 && !slices.Contains(r.tr.Syms, "cuda_sync") {
		how := how(vendors.LacksWaits)
		if how == "" || !vendors.CanRecordWaits(r.tr.Syms) {
			how = "no setting of the profiler is known that records it for this device"
		}
		lacks(true, "which stream a call waited for: it is inferred", how)
	}
	lacks(len(r.g.Steps) < 3, "what is warm-up and what is the steady state: there are fewer than three steps", how(vendors.LacksSteps))
	lacks(len(r.names[trace.Kernel]) > 0 && len(r.tr.DeviceNames) == 0, "what the device could do at best: its name is not recorded", how(vendors.LacksModel))
	lacks(len(r.collectives()) > 0, "whether a collective waits for another rank or moves data: this is one rank", "profile all ranks, then overlay advise FOLDER")
	return out
}
