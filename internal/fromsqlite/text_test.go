package fromsqlite_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"overlay/internal/fromsqlite"
	"overlay/internal/kineto"
	"overlay/internal/testtrace/reported"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestText: databases in, text out. testdata/text.txt has the SQL that makes each database, and below it the text of the trace or of its
// processes.
func TestText(t *testing.T) {
	reported.Texts(t, "testdata/text.txt", *update, func(t *testing.T, name string, in []byte) string {
		file := filepath.Join(t.TempDir(), "t.db")
		c, err := sqlite3.Open("file:" + file)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.Exec(string(in)), c.Close()); err != nil {
			t.Fatal(err)
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		to, o := &spool{}, kineto.Options{}
		tr, err := fromsqlite.Parse(src, "t.db", o, kineto.NewSink(to, o))
		var got strings.Builder
		var several *kineto.Several
		switch {
		case errors.As(err, &several):
			for i := range several.Parts {
				p, to := &several.Parts[i], &spool{}
				if _, err := p.Write(kineto.NewSink(to, o)); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&got, "%s of %s: %s", p.PID, p.Name, to.b)
			}
		case err != nil:
			fmt.Fprintln(&got, "error:", err)
		default:
			fmt.Fprintf(&got, "%s: %s", kineto.Inspect(tr).Form, to.b)
			for _, r := range tr.Repairs {
				fmt.Fprintf(&got, "repair: %s %d\n", r.Reason, r.Count)
			}
		}
		return got.String()
	})
}
