package cdg

import (
	"strings"

	"overlay/internal/trace"
)

// callClass says what a runtime or driver call does, by its name; for device copies, whether a side is pageable.
type callClass uint8

const (
	plainCall callClass = iota
	streamSync
	deviceSync
	eventSync
	eventRecord
	streamWait
	blockingCopy // cudaMemcpy, hipMemcpyWithStream: returns when the copy is done
	asyncCopy    // cudaMemcpyAsync: returns at once unless a side is pageable
	graphLaunch
	freeCall     // cudaFree and its like wait for the device when they really free
	pageableCopy // name of a device copy with a pageable side
)

// classifyCall reads the name of a runtime or driver call: cuda*, cu*, hip*, and what ports of them keep of those names.
func classifyCall(name string) callClass {
	name = strings.TrimSuffix(name, "_ptsz")
	has := func(s string) bool { return strings.Contains(name, s) }
	switch {
	case strings.HasPrefix(name, "Memcpy "):
		if has("Pageable") || has("Pagable") { // the spelling of 2020
			return pageableCopy
		}
		return plainCall
	case has("StreamSynchronize"), has("synchronizeStream"):
		return streamSync
	case has("DeviceSynchronize"), has("CtxSynchronize"):
		return deviceSync
	case has("EventSynchronize"):
		return eventSync
	case has("StreamWaitEvent"):
		return streamWait
	case has("EventRecord"):
		return eventRecord
	case has("GraphLaunch"):
		return graphLaunch
	case has("Memcpy") && has("Async"):
		return asyncCopy
	case has("Memcpy"):
		return blockingCopy
	case name == "cudaFree", name == "hipFree", name == "cuMemFree_v2", name == "cudaFreeHost", name == "hipHostFree":
		return freeCall
	}
	return plainCall
}

// classifyCalls classifies each name once.
func (b *builder) classifyCalls() {
	b.calls = make([]callClass, len(b.tr.Syms))
	for i, name := range b.tr.Syms {
		b.calls[i] = classifyCall(name)
	}
}

// class of an activity's name; plainCall for events that are no calls.
func (b *builder) class(a ActID) callClass {
	e := &b.tr.Events[b.d.Acts[a].Event]
	if e.Kind.Call() {
		return b.calls[e.Name]
	}
	return plainCall
}

func (b *builder) event(a ActID) *trace.Event { return &b.tr.Events[b.d.Acts[a].Event] }
