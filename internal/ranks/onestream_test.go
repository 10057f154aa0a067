package ranks_test

import (
	"fmt"
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
)

// TestOneStreamEach: where nothing names groups and each process communicates on one stream, the numbers of the streams do not matter.
func TestOneStreamEach(t *testing.T) {
	matched := func(number func(rank int) int) int {
		list, err := jobjudge.Summaries(testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Seed: 3, World: 4, Steps: 4, Trouble: []string{"old"}}))
		if err != nil {
			t.Fatal(err)
		}
		for r, s := range list {
			if len(s.Groups) != 1 || s.Groups[0].By != "stream" {
				t.Fatalf("groups %+v", s.Groups)
			}
			s.Groups[0].Name = fmt.Sprintf("stream %d", number(r))
		}
		j, err := ranks.Join(list, ranks.Options{Step: -1})
		if err != nil {
			t.Fatal(err)
		}
		return len(j.Instances)
	}
	alike := matched(func(int) int { return 7 })
	if other := matched(func(rank int) int { return 7 + 6*rank }); alike == 0 || other != alike {
		t.Errorf("%d collectives, %d where streams have other numbers", alike, other)
	}
}
