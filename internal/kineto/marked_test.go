package kineto

import (
	"fmt"
	"strings"
	"testing"
)

// TestMarked: an argument of an earlier overlay is noticed in any piece of the input, and so are shapes; what only looks like one is not.
func TestMarked(t *testing.T) {
	const events = 40
	for _, c := range []struct {
		args           string
		marked, shapes bool
	}{
		{`"critical":1`, true, false},
		{`"bytes":1,"critical_path_ns":5`, true, false},
		{`"Input Dims":[[2]]`, false, true},
		{`"Input dims":[[2]]`, false, true},
		{`"critica":1,"kind":"critical","Input Dim":[[2]]`, false, false},
		{`"in":{"critical":1,"Input Dims":1}`, false, false},
	} {
		for at := range events {
			var b strings.Builder
			for i := range events {
				args := `"bytes":1`
				if i == at {
					args = c.args
				}
				fmt.Fprintf(&b, `,{"ph":"X","name":"op","pid":1,"tid":1,"ts":%d,"dur":1,"args":{%s}}`, i, args)
			}
			tr, err := Parse([]byte(`{"traceEvents":[`+b.String()[1:]+`]}`), "marked", Options{chunk: 256})
			if err != nil {
				t.Fatal(err)
			}
			if len(tr.Events) != events || tr.Marked != c.marked || tr.Shapes != c.shapes {
				t.Errorf("%s in event %d of %d: marked %v, shapes %v", c.args, at, len(tr.Events), tr.Marked, tr.Shapes)
			}
		}
	}
}
