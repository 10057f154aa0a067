package cdg

import (
	"strings"

	"overlay/internal/vendors"
)

// callClass says what a runtime or driver call does, by its name; for device copies, whether an asynchronous call that
// makes them waits for them.
type callClass = vendors.Verb

const (
	plainCall    = vendors.NoVerb
	streamSync   = vendors.StreamSync
	deviceSync   = vendors.DeviceSync
	eventSync    = vendors.EventSync
	eventRecord  = vendors.EventRecord
	streamWait   = vendors.StreamWait
	blockingCopy = vendors.BlockingCopy
	asyncCopy    = vendors.AsyncCopy
	graphLaunch  = vendors.GraphLaunch
	freeCall     = vendors.Free
	submit       = vendors.Submit

	waitedCopy  = vendors.NumVerbs + iota // name of a device copy to pageable memory: the call returns when it is done
	stagedCopy                            // with another pageable side: the call returns when the data are staged, which may be the end
	unwaited                              // without a pageable side: the call returns at once
	unknownCopy                           // of memory whose kinds are not known
)

// classifyCall reads the name of a runtime or driver call, or of a device copy.
func classifyCall(name string) callClass {
	if name == "Memcpy" || strings.HasPrefix(name, "Memcpy ") {
		return classifyCopy(name)
	}
	return vendors.VerbOf(name)
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
