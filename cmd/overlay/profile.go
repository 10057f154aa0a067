package main

import (
	"runtime"
	"runtime/pprof"

	"overlay/internal/outputs"
)

// startProfiles begins the profiles that were asked for; the returned function completes their files.
func (p *program) startProfiles(o *options) (stop func() error, err error) {
	if o.memProfile == "" {
		runtime.MemProfileRate = 0 // samples that nobody asked for take a hundredth of the time
	}
	cpu, mem := (*outputs.Output)(nil), (*outputs.Output)(nil)
	if o.cpuProfile != "" {
		if cpu, err = p.outs.Create(o.cpuProfile); err != nil {
			return nil, err
		}
		if err = pprof.StartCPUProfile(cpu); err != nil {
			return nil, err
		}
	}
	if o.memProfile != "" {
		if mem, err = p.outs.Create(o.memProfile); err != nil {
			return nil, err
		}
	}
	return func() error {
		if cpu != nil {
			pprof.StopCPUProfile()
		}
		if mem != nil {
			runtime.GC() // the profile shows what was alive at the last collection
			return pprof.Lookup("heap").WriteTo(mem, 0)
		}
		return nil
	}, nil
}
