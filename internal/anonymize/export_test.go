package anonymize

import "overlay/internal/trace"

// IsKnown reports whether a token is made of known words or is a key that profilers write.
func IsKnown(s string) bool { return isPublic(s) || knownArgs[s] || knownMeta[s] || knownFields[s] }

// EventText is the anonymous name of an event.
func EventText(kind trace.Kind, name string) string { return eventText(kind, 'X', name) }

// TraceOf is the anonymous form of a trace.
func TraceOf(tr *trace.Trace) *trace.Trace { return anonymizeTrace(tr) }
