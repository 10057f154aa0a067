package fromsqlite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"overlay/internal/fromsqlite"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/databases"
	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
)

// FuzzParse wants of any bytes an error of one line, or a sound trace and the same again.
func FuzzParse(f *testing.F) {
	for i, m := range testtrace.Made(f) {
		if i >= 2 {
			break
		}
		tr := recorded(m.Trace, trace.Runtime, trace.Annotation, trace.CPUOp, trace.Kernel, trace.Memcpy)
		tr.Events = tr.Events[:min(len(tr.Events), 40)]
		for _, write := range []func(*trace.Trace) ([]byte, error){
			func(tr *trace.Trace) ([]byte, error) { return databases.Nsys(tr, databases.Options{}) }, databases.Rocpd,
			func(tr *trace.Trace) ([]byte, error) { return databases.Ascend(tr, 1) },
		} {
			src, err := write(tr)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	for _, view := range []string{"select x id, 'k' name, x * 10 start, x * 10 + 5 end from t", "select x id, 'k' name, x start, x end from t where x < 0"} { // without end
		name := filepath.Join(f.TempDir(), "t.db")
		c, err := sqlite3.Open("file:" + name)
		if err == nil {
			err = c.Exec("create view kernels as with recursive t(x) as (select 1 union all select x + 1 from t) " + view)
			c.Close()
		}
		src, e := os.ReadFile(name)
		if err != nil || e != nil {
			f.Fatal(err, e)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if !fromsqlite.Is(src) {
			return
		}
		tr, err := fromsqlite.Parse(src, "t.db", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "t.db") {
				t.Fatalf("error %q", err)
			}
			return
		}
		if err := tracecheck.Check(tr); err != nil {
			t.Fatal(err)
		}
		again, err := fromsqlite.Parse(src, "t.db", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
		if err != nil || !bytes.Equal(kineto.TextOf(tr).Src, kineto.TextOf(again).Src) {
			t.Fatal("not the same again", err)
		}
	})
}
