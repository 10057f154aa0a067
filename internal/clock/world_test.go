package clock_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/serdes"

	"overlay/internal/critpath"
	"overlay/internal/fromsqlite"
	"overlay/internal/kineto"
	"overlay/internal/testtrace/corpus"
)

type spool struct{ b []byte }

func (s *spool) Write(p []byte) (int, error) { s.b = append(s.b, p...); return len(p), nil }
func (s *spool) Bytes() ([]byte, error)      { return s.b, nil }

// only is a database of Nsight Systems with the rows of one process.
func only(t *testing.T, src []byte, pid int64) []byte {
	t.Helper()
	conn, err := sqlite3.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := serdes.Deserialize(conn, "main", src); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"NVTX_EVENTS.globalTid", "CUPTI_ACTIVITY_KIND_RUNTIME.globalTid", "CUPTI_ACTIVITY_KIND_KERNEL.globalPid", "CUPTI_ACTIVITY_KIND_MEMCPY.globalPid",
		"CUPTI_ACTIVITY_KIND_MEMSET.globalPid", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION.globalPid", "CUPTI_ACTIVITY_KIND_CUDA_EVENT.globalPid", "OSRT_API.globalTid", "ThreadNames.globalTid"} {
		name, column, _ := strings.Cut(table, ".")
		if err := conn.Exec(fmt.Sprintf("delete from %s where %s >> 24 & 0xffffff <> %d", name, column, pid)); err != nil {
			t.Log(err) // a report need not have all tables
		}
	}
	out, err := serdes.Serialize(conn, "main")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTwins: two ranks of one job, which do the same, in one report of Nsight Systems. The clock of one GPU is 13 µs late for 250 of 300 ms.
// Corrected, both ranks have the same verdict, within five points.
func TestTwins(t *testing.T) {
	src, err := os.ReadFile(corpus.World(t, "nsys-ai__two_gpus_before.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	var of [2]map[critpath.Class]float64
	for i, pid := range []int64{144, 145} {
		tr, err := fromsqlite.Parse(only(t, src, pid), "rank.sqlite", kineto.Options{}, kineto.NewSink(&spool{}, kineto.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		points, list := classes(t, tr)
		if of[i] = points; len(list) != 1-i {
			t.Errorf("process %d: corrected %+v", pid, list)
		}
		if i == 0 && (list[0].By > -11_000 || list[0].By < -15_000 || list[0].To-list[0].From < 240_000_000 || list[0].To-list[0].From > 260_000_000) {
			t.Errorf("corrected %+v", list)
		}
	}
	for class := range critpath.NumClasses {
		if d := of[0][class] - of[1][class]; max(d, -d) > 5 {
			t.Errorf("%v: %.1f and %.1f points", class, of[0][class], of[1][class])
		}
	}
}
