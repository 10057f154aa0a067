package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"overlay/internal/testtrace"
)

// TestAttackJobs runs commands on jobs of a few ranks of which some were changed in ways that leave them traces of the job: times and numbers of
// collectives that cannot be, records that are missing, doubled or out of order, names of groups that differ. OVERLAY_ATTACK says how many
// inputs there are: a job for twenty of them. Half of the jobs and more are put together.
func TestAttackJobs(t *testing.T) {
	count, first := attackInputs(t)
	count /= 20
	joined, asked := 0, 0
	for seed := first; seed < first+uint64(count); seed++ {
		a := &attacker{rand.New(rand.NewPCG(seed, 1))}
		dir := t.TempDir()
		a.job(t, filepath.Join(dir, "job"))
		for _, args := range [][]string{{"report", "-i", "job", "--json"}, a.jobCommand()} {
			said, status := tryJob(t, dir, args)
			if said != "" {
				kept, _ := os.MkdirTemp("", fmt.Sprintf("overlay-attack-job-%d-", seed))
				os.CopyFS(filepath.Join(kept, "job"), os.DirFS(filepath.Join(dir, "job")))
				t.Errorf("seed %d: overlay %s: %s\n  the job is in %s", seed, strings.Join(args, " "), said, kept)
			}
			if args[0] == "report" && args[len(args)-1] == "--json" {
				asked++
				if status == exitDone {
					joined++
				}
			}
		}
		os.RemoveAll(dir)
	}
	t.Logf("%d of %d jobs were put together", joined, asked)
	if 2*joined < asked {
		t.Errorf("only %d of %d jobs were put together: the mutations tell nothing", joined, asked)
	}
}

// job writes the traces of a small job, one or more of them mutated.
func (a *attacker) job(t *testing.T, dir string) {
	o := testtrace.JobOptions{Kind: pick(a, testtrace.JobKinds), World: 4, PerHost: 2, Steps: 2, Seed: a.Uint64N(200)}
	if a.IntN(2) == 0 {
		o.Cause = pick(a, testtrace.JobCauses)
	}
	j := testtrace.NewJob(o)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for r := range j.Ranks {
		text := j.JSON(int32(r))
		if text == nil {
			continue
		}
		if r == 0 || a.IntN(2) == 0 {
			for range 1 + a.IntN(12) {
				text = a.mutateRank(text)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, j.Ranks[r].File), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	timeToken = regexp.MustCompile(`"(ts|dur)":\s*-?[\d.]+`)
	commToken = regexp.MustCompile(`"(Collective name|Process Group Name|Process Group Ranks|Group size|In msg nelems|Out msg nelems|dtype|Seq|Rank|rank|world_size|Src Rank|Dst Rank|stream|device|correlation|External id)":\s*("[^"]*"|-?[\d.]+)`)
)

// mutateRank changes the trace of a rank so that it stays JSON.
func (a *attacker) mutateRank(b []byte) []byte {
	switch a.IntN(4) {
	case 0:
		return a.events(b)
	case 1:
		return a.replaceOne(b, timeToken, func(old string) string {
			key, number, _ := strings.Cut(old, ":")
			n, _ := strconv.ParseFloat(strings.TrimSpace(number), 64)
			return key + ":" + pick(a, []string{"0", "-5", "1e15", "9e18", fmt.Sprintf("%.3f", n+1e5), fmt.Sprintf("%.3f", n-1e5), fmt.Sprintf("%.3f", n/2), fmt.Sprintf("%.3f", n*2)})
		})
	case 2:
		return a.replaceOne(b, commToken, func(old string) string {
			key, _, _ := strings.Cut(old, ":")
			return key + ":" + pick(a, []string{"0", "-1", "3", "7", "1e18", "9223372036854775807", `""`, `"[0, 1]"`, `"[]"`, `"allreduce"`, `"x"`, "null"})
		})
	}
	return a.replaceOne(b, memberToken, func(old string) string { return pick(a, []string{"", old}) })
}

// jobCommand is a command line on the folder.
func (a *attacker) jobCommand() []string {
	switch a.IntN(6) {
	case 0:
		return []string{"run", "-i", "job", "-o", "out" + pick(a, []string{".pftrace", ".pftrace.gz"})}
	case 1:
		return []string{"report", "-i", "job", "--html", "out.html"}
	case 2:
		return []string{"check", "job"}
	case 3:
		return []string{"advise", "-i", "job", "--json"}
	case 4:
		return []string{"query", "select * from collectives", "job", "--format", "jsonl"}
	}
	return []string{"report", "-i", "job"}
}

// tryJob runs a command in a folder and says what is wrong with what it did.
func tryJob(t *testing.T, dir string, args []string) (problem string, status int) {
	t.Helper()
	line := []string{"overlay"}
	out := ""
	for _, arg := range args {
		if strings.HasPrefix(arg, "out") {
			out = arg
		}
		if arg == "job" || arg == out && out != "" {
			arg = filepath.Join(dir, arg)
		}
		line = append(line, arg)
	}
	var stdout, stderr bytes.Buffer
	watch := time.AfterFunc(time.Minute, func() { panic("the command stands still: " + strings.Join(line, " ")) })
	status = run(line, strings.NewReader(""), &stdout, &stderr)
	watch.Stop()
	printed := stdout.String()
	if args[0] == "check" { // says what it found of the traces, and fails where they are not of one job
		printed = ""
	}
	if problem := wrongAnswer(args, status, printed, stderr.String()); problem != "" {
		return problem, status
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if e.Name() != "job" && (e.Name() != out || status != exitDone) {
			return "left behind: " + e.Name(), status
		}
	}
	if status == exitDone && out != "" {
		c := attackCase{dir: dir}
		problem = c.output(out)
		os.Remove(filepath.Join(dir, out))
	}
	return problem, status
}
