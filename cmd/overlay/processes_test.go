package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/testtrace"
)

// merged puts the traces of a job into one text, as tools do that change each event by its rank.
func merged(t *testing.T, job *testtrace.Job, change func(rank int, e map[string]any)) []byte {
	t.Helper()
	out := map[string]any{}
	var events []any
	for r := range job.Ranks {
		d := json.NewDecoder(bytes.NewReader(job.JSON(int32(r))))
		d.UseNumber()
		var x map[string]any
		if err := d.Decode(&x); err != nil {
			t.Fatal(err)
		}
		for _, e := range x["traceEvents"].([]any) {
			change(r, e.(map[string]any))
			events = append(events, e)
		}
		for k, v := range x {
			if _, ok := out[k]; !ok {
				out[k] = v
			}
		}
	}
	out["traceEvents"] = events
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// shift adds to a number; what is none stays.
func shift(m map[string]any, key string, by int) {
	n, ok := m[key].(json.Number)
	if v, err := n.Int64(); ok && err == nil {
		m[key] = v + int64(by)
	}
}

// TestProcesses: one file that holds the traces of all ranks gives what a folder of files does, whatever tool merged them.
func TestProcesses(t *testing.T) {
	job := testtrace.NewJob(testtrace.JobOptions{Kind: "dp", Cause: "data", World: 4, PerHost: 4, Steps: 3, Seed: 3})
	dir := t.TempDir()
	folder := filepath.Join(dir, "job")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for r := range job.Ranks {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("rank%d.json", r)), job.JSON(int32(r)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	report := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if status := run(append([]string{"overlay"}, args...), strings.NewReader(""), &out, &errs); status != 0 {
			t.Fatalf("overlay %v: %s", args, errs.String())
		}
		before, rest, _ := strings.Cut(out.String(), filepath.Base(args[2])+"\n") // the name, of a job with its folder
		rest = strings.TrimSuffix(before, filepath.Dir(args[2])+"/") + rest
		return strings.NewReplacer(folder+"/", "", ".json", "", "(recorded)", "(name)", "(op)", "(name)").Replace(strings.Join(strings.Fields(rest), " ")) // lines break elsewhere where names are longer
	}
	want, one := report("report", "-i", folder), report("report", "-i", filepath.Join(folder, "rank2.json"))
	for name, change := range map[string]func(rank int, e map[string]any){
		"offsets": func(rank int, e map[string]any) { // TraceLens
			args, _ := e["args"].(map[string]any)
			if args == nil {
				args = map[string]any{}
				e["args"] = args
			}
			args["rank"], args["pid_raw"] = rank, e["pid"]
			shift(args, "correlation", rank*1_000_000)
			shift(e, "id", rank*1_000_000)
			shift(e, "pid", rank*100_000_000)
		},
		"labels": func(rank int, e map[string]any) { // SGLang: numbers of correlations and flows stay as they are
			e["pid"] = fmt.Sprintf("[TP%02d] %v", rank, e["pid"])
		},
	} {
		file := filepath.Join(dir, name+".json")
		if err := os.WriteFile(file, merged(t, job, change), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(report("report", "-i", file), file+"/", ""); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		process := map[string]string{"offsets": "rank2", "labels": "TP02"}[name]
		if got := report("report", "-i", file, "--process", process); got != one {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, one)
		}
	}
}
