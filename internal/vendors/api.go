package vendors

import (
	"slices"
	"strings"
)

// HostBackend is the backend of torch.distributed that works without a device.
const HostBackend = "gloo"

// CollectiveOps begins the names of operators of torch.distributed that ask for a collective.
const CollectiveOps = "c10d::"

// apiStarts begin the names of calls of runtimes and drivers; a capital letter follows.
var apiStarts = []string{"cuda", "hip", "cu"}

// IsAPI reports whether a name is that of a call of a device's runtime or driver.
func IsAPI(name string) bool {
	return slices.ContainsFunc(apiStarts, func(start string) bool {
		return len(name) > len(start) && name[:len(start)] == start && name[len(start)] >= 'A' && name[len(start)] <= 'Z'
	})
}

// IsCUDA reports whether a call is one of NVIDIA's runtime or driver, and IsHIP whether it is one of AMD's.
func IsCUDA(call string) bool { return IsAPI(call) && !IsHIP(call) }
func IsHIP(call string) bool  { return IsAPI(call) && strings.HasPrefix(call, "hip") }

// BackendCall is the collective of an annotation that a backend of torch.distributed writes around its calls, with the
// backend's name before it.
func BackendCall(name string) (backend, collective string, ok bool) {
	backend, collective, ok = strings.Cut(name, ":")
	return backend, collective, ok && slices.Contains(Backends(), backend)
}
