package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"overlay/internal/ranks/replay"
	"overlay/internal/testtrace"
)

// TestScenario: questions about a job in, ranks out of which something changes, or what is said of a question that cannot be asked.
func TestScenario(t *testing.T) {
	_, m := made(t, testtrace.JobOptions{Kind: "dp", Seed: 1, World: 4, PerHost: 2, Steps: 2})
	for i := range m.Job.Members {
		m.Job.Members[i].Host = fmt.Sprint("host", i/2)
	}
	parse := replay.Parser{Model: m, Shown: strings.ToUpper}
	name := ""
	for x, i := m.Job.Members[1], 0; name == ""; i++ {
		name = x.Names[x.Chains.Of[i].Name]
	}
	step := fmt.Sprint(m.Job.Members[0].Steps[0].Number)
	group := m.Job.Groups[0].Name
	for _, c := range []struct{ text, want string }{
		{"class:compute=0.5", "0 1 2 3"}, {"class:compute in rank:1=0.5", "1"}, {"class:compute in rank:0-1, 3=0.5", "0 1 3"}, {"class:compute in host:host1=0.5", "2 3"}, {"class:compute in host:host1 in rank:0-2=0.5", "2"},
		{"rank:2=0.5", "2"}, {"host:host0=0.5", "0 1"}, {"transfer=0.5", "0 1 2 3"}, {"class:comm in rank:3=0.5", "3"}, {"class:communication=0.5", "0 1 2 3"},
		{"group:" + group + "=0.5", "0 1 2 3"}, {"transfer in group:" + group + "=0.5", "0 1 2 3"}, {name + " in rank:1=0.5", "1"}, {"name:" + name + " in rank:1=0.5", "1"},
		{strings.ToUpper(name) + " in rank:1=0.5", "1"}, {name[:len(name)-1] + "* in rank:1=0.5", "1"},
		{"class:compute in rank:x=0.5", `"x" are no ranks`}, {"class:compute in rank:3-x=0.5", `"3-x" are no ranks`}, {"class:compute in rank:-1=0.5", `"-1" are no ranks`}, {"class:compute in rank:3-2=0.5", `"3-2" are no ranks`},
		{"class:compute in rank:2-2=0.5", "2"}, {"class:compute in rank:9=0.5", "no trace of rank 9; there are ranks 0 to 3"}, {"class:compute in host:x=0.5", `no host "x", but host0, host1`}, {"class:compute in stage:0=0.5", "no stage 0: the ranks are in no pipeline"},
		{"class:compute in stage:-1=0.5", `"-1" is no stage`}, {"class:compute in step:x=0.5", `"x" is no step`}, {"class:compute in step:77=0.5", "no rank has a step 77"}, {"group:x=0.5", `no group "x", but `}, {"group:=0.5", "has no factor"},
		{"class:compute in group:" + group + "=0.5", "collectives and groups have transfers, and no work"}, {"phase:x=0.5", "summaries of ranks know names, classes and steps, and not phase"}, {"=0.5", "a change without a selector"},
		{"no such name=0.5", "selects nothing that collectives followed from"}, {"class:x=0.5", "class"}, {"class:compute", "factor"},
		{"drop aten::mm", "drop is for one trace"}, {"buckets transfer=0MB", "write the size"}, {"buckets transfer=x", "write the size"}, {"buckets transfer in rank:1=9MB", "on all ranks of a group"},
		{"buckets class:compute=9MB", "on all ranks of a group"}, {"buckets transfer in step:" + step + "=9MB", "in all steps"}, {"class:compute in rank:1 in step:" + step + "=0.5", "1"}, {"buckets latency=9MB", "all-reduces are put together"},
	} {
		s, err := parse.Scenario(c.text)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || strings.ContainsAny(c.want[:1], "0123456789") {
				t.Errorf("%s: %v, want %s", c.text, err, c.want)
			}
			continue
		}
		var got []string
		for i := range m.Job.Members {
			if m.Touches(s.Ask, int32(i)) {
				got = append(got, fmt.Sprint(m.Job.Members[i].Rank))
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: of ranks %s, want %s", c.text, got, c.want)
		}
	}
}
