// Job writes the traces of a made training job into a folder, one a rank; or the summaries of a large one.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"

	"overlay/internal/parquetfile"
	"overlay/internal/ranks/parts"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
)

func main() {
	o := testtrace.JobOptions{}
	dir := flag.String("o", "", "folder to write to")
	flag.StringVar(&o.Kind, "kind", "moe", "how the ranks share the work: "+strings.Join(testtrace.JobKinds, ", "))
	flag.StringVar(&o.Cause, "cause", "data", "what is wrong: "+strings.TrimPrefix(strings.Join(testtrace.JobCauses, ", "), ", "))
	trouble := flag.String("trouble", "", "what makes the traces hard to read, with commas: "+strings.Join(testtrace.JobTroubles, ", "))
	flag.IntVar(&o.World, "ranks", 8, "number of ranks: a power of two")
	flag.IntVar(&o.PerHost, "per-host", 4, "ranks on one host")
	flag.IntVar(&o.Steps, "steps", 4, "steps that are recorded")
	flag.BoolVar(&o.CPU, "cpu", false, "without devices: threads do the collectives (kind dp)")
	flag.Uint64Var(&o.Seed, "seed", 3, "everything else is drawn from it")
	large := flag.Int("summaries", 0, "write no traces, but summaries of so many ranks with 2,200 collectives each, as 'overlay export --tables summary' does: a multiple of 8")
	flag.Parse()
	if *large > 0 {
		if err := writeSummaries(*dir, *large); err != nil {
			fmt.Fprintln(os.Stderr, "job:", err)
			os.Exit(1)
		}
		return
	}
	if *trouble != "" {
		o.Trouble = strings.Split(*trouble, ",")
	}
	if err := write(*dir, testtrace.NewJob(o)); err != nil {
		fmt.Fprintln(os.Stderr, "job:", err)
		os.Exit(1)
	}
}

// write writes the traces, gzipped.
func write(dir string, j *testtrace.Job) error {
	if dir == "" {
		return fmt.Errorf("no folder: give one with -o")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for r := range j.Ranks {
		text := j.JSON(int32(r))
		if text == nil {
			continue
		}
		f, err := os.Create(filepath.Join(dir, j.Ranks[r].File+".gz"))
		if err != nil {
			return err
		}
		z := gzip.NewWriter(f)
		if _, err := z.Write(text); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// writeSummaries writes the summaries of a large job, a folder a rank.
func writeSummaries(dir string, n int) error {
	if dir == "" {
		return fmt.Errorf("no folder: give one with -o")
	}
	for i, s := range jobjudge.Large(n, 1) {
		rank := filepath.Join(dir, "run=large", fmt.Sprintf("rank=%d", i))
		if err := os.MkdirAll(rank, 0o777); err != nil {
			return err
		}
		t := parts.Cells(s)
		f, err := os.Create(filepath.Join(rank, t.Name+".parquet"))
		if err != nil {
			return err
		}
		if err := parquetfile.Write(f, &t, parquetfile.Options{Schema: parts.Schema}); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}
