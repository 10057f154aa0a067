package vendors

import (
	"slices"
	"strings"
)

// Backends are the backends of torch.distributed.
func Backends() []string { return known.ofLibraries(func(l *Library) string { return l.Backend }) }

// BackendThreads are the starts of the names of threads that belong to such backends.
func BackendThreads() []string {
	return known.ofLibraries(func(l *Library) string { return l.Threads })
}

// Processes are the processes whose name or pid says what their events are.
func Processes() []Process {
	return gather(func(v *Vendor) []Process { return v.Processes })
}

// Syncs are the categories of records of what waited for what.
func Syncs() []string { return gather(func(v *Vendor) []string { return v.Syncs }) }

// Devices are the words before the number of a device.
func Devices() []string { return gather(func(v *Vendor) []string { return v.Devices }) }

// Flows are names and categories of flow events, beside those that Kineto writes for all.
func Flows() []string { return gather(func(v *Vendor) []string { return v.Flows }) }

// Words are the words of names of calls.
func Words() []string { return gather(func(v *Vendor) []string { return strings.Fields(v.Words) }) }

// Namespaces are those of kernels that a short name leaves out.
func Namespaces() []string { return gather(func(v *Vendor) []string { return v.Namespaces }) }

// Functors are patterns of what names the work of a kernel.
func Functors() []string { return gather(func(v *Vendor) []string { return v.Functors }) }

// Wrappers are names that Functors find and that only pass work on to another one.
func Wrappers() []string { return gather(func(v *Vendor) []string { return v.Wrappers }) }

// Tails are patterns of ends of kernels' names, of which a reader needs the group only.
func Tails() []string { return gather(func(v *Vendor) []string { return v.Tails }) }

// Rows are names of rows and processes, the words for devices among them.
func Rows() []string {
	return gather(func(v *Vendor) []string {
		list := slices.Concat(v.Rows, v.Devices)
		for _, p := range v.Processes {
			list = append(list, p.PID+p.Name, p.Row) // one of the first two is empty
		}
		return list
	})
}

// Numbered are starts of names of processes and of their rows which a number follows.
func Numbered() []string {
	return gather(func(v *Vendor) (list []string) {
		for _, p := range v.Processes {
			if p.Start {
				list = append(list, p.Name)
			}
			if strings.HasSuffix(p.Row, "#") {
				list = append(list, p.Row)
			}
		}
		return list
	})
}
