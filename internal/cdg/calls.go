package cdg

import (
	"strings"

	"overlay/internal/trace"
)

// callClass says what a runtime or driver call does, by its name; for device copies, whether an asynchronous call that
// makes them waits for them.
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
	freeCall // cudaFree and its like wait for the device when they really free

	waitedCopy  // name of a device copy to pageable memory: the call returns when it is done
	stagedCopy  // with another pageable side: the call returns when the data are staged, which may be the end
	unwaited    // without a pageable side: the call returns at once
	unknownCopy // of memory whose kinds are not known
)

// classifyCall reads the name of a runtime or driver call: cuda*, cu*, hip*, and what ports of them keep of those names.
func classifyCall(name string) callClass {
	name = strings.TrimSuffix(name, "_ptsz")
	has := func(s string) bool { return strings.Contains(name, s) }
	switch {
	case name == "Memcpy", strings.HasPrefix(name, "Memcpy "):
		return classifyCopy(name)
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

// classifyCopy reads the name of a device copy: "Memcpy DtoH (Device -> Pageable)".
func classifyCopy(name string) callClass {
	name = strings.ReplaceAll(name, "Pagable", "Pageable") // the spelling of 2020
	switch {
	case strings.Contains(name, "DtoH (") && strings.Contains(name, "-> Pageable"):
		return waitedCopy
	case strings.Contains(name, "Pageable"):
		return stagedCopy
	case !strings.Contains(name, "(") || strings.Contains(name, "Unknown") || strings.Contains(name, "Unrecognized"):
		return unknownCopy
	}
	return unwaited
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
