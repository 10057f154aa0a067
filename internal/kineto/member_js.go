package kineto

import "overlay/internal/trace"

// Member returns a member of an event by a path of keys; see trace.Source. The page's program does without a second
// reader of JSON: it would be a tenth of what a browser loads.
func (x *Text) Member(id trace.EventID, path ...string) (trace.Value, bool) {
	return member(x.Raw(id), path)
}
