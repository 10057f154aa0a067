package kineto

import "overlay/internal/trace"

// member finds a value in the object that raw begins with by a path of keys.
func member(raw []byte, path []string) (trace.Value, bool) {
	for _, key := range path {
		if raw = arg(raw, key); raw == nil {
			return trace.Value{}, false
		}
	}
	return value(raw), true
}
