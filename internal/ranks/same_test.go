package ranks_test

import (
	"flag"
	"fmt"
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
	"overlay/internal/testtrace/jobjudge"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestSame holds jobs and what is said of them to what they were.
func TestSame(t *testing.T) {
	var lines []string
	for i, cause := range testtrace.JobCauses {
		for seed := range uint64(1) {
			list, err := jobjudge.Summaries(testtrace.RandomJobWith(cause, 10*uint64(i)+seed))
			if err != nil {
				t.Fatal(err)
			}
			j, err := ranks.Join(list, ranks.Options{Step: -1})
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("job_%s_%d", cause, seed)
			lines = append(lines, name+" "+digest.Of(j), name+"_verdict "+digest.Of(replay.Judge(j, ranks.Expected{})))
		}
	}
	digest.Check(t, "jobs", lines, *update)
}
