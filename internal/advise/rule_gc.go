package advise

import (
	"strings"

	"overlay/internal/trace"
)

// collecting tells frames and annotations of Python's garbage collector. Collections that Python starts by itself are not
// recorded, unless the program marks them.
func collecting(name string) bool {
	file, function := frameOf(name)
	return strings.HasSuffix("/"+file, "/gc.py") && strings.Contains(function, "collect") || collections(name)
}

var collections = oneOf("<built-in function collect>", "gc.collect", "Python GC", "gc")

var _ = add(rule{
	id: "gc", group: Specific, kind: Predicted, level: Medium,
	why:      "the collector's frames are recorded",
	title:    "Python collects garbage inside the window",
	cause:    "the interpreter looks through all objects, and launches nothing meanwhile",
	scenario: "collections take no time",
	action:   []string{"gc.disable() after warm-up, and gc.collect() every N steps, on all ranks together", "gc.freeze() after the model is made"},
	verify:   "no collection inside a step",
	find: func(r *run) *found {
		list := r.outermost(r.named([]trace.Kind{trace.Python, trace.Annotation}, collecting))
		if len(list) == 0 {
			return nil
		}
		f := r.about(list, "collection", "collections", "gc.disable(), and gc.collect() every N steps")
		f.events.expected = -1
		f.change.shrink(list, 0)
		return f
	},
})
