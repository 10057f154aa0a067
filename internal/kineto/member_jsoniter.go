//go:build !js

package kineto

import (
	jsoniter "github.com/json-iterator/go"

	"overlay/internal/trace"
)

// Member returns a member of an event by a path of keys; see trace.Source.
func (x *Text) Member(id trace.EventID, path ...string) (trace.Value, bool) {
	keys := make([]any, len(path))
	for i, k := range path {
		keys[i] = k
	}
	v := jsoniter.Get(x.Raw(id), keys...)
	switch v.ValueType() {
	case jsoniter.InvalidValue:
		return trace.Value{}, false
	case jsoniter.NilValue:
		return trace.NumberValue("null"), true
	case jsoniter.StringValue:
		return trace.Value{Kind: trace.String, Text: v.ToString()}, true
	case jsoniter.ObjectValue:
		return trace.Value{Kind: trace.Object, Text: v.ToString()}, true
	case jsoniter.ArrayValue:
		return trace.Value{Kind: trace.Array, Text: v.ToString()}, true
	}
	return trace.NumberValue(v.ToString()), true
}
