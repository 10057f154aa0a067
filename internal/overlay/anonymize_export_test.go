package overlay

import "overlay/internal/kineto"

// IsKnown reports whether a token is made of known words or is a key that profilers write.
func IsKnown(s string) bool { return isPublic(s) || knownArgs[s] || knownMeta[s] || knownFields[s] }

// EventText is the anonymous name of an event.
func EventText(kind kineto.Kind, name string) string { return eventText(kind, 'X', name) }

// AnonymizeTrace is the anonymous form of a trace.
func AnonymizeTrace(tr *kineto.Trace) *kineto.Trace { return anonymizeTrace(tr) }
