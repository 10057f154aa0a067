// Judge compares the exact critical path with the truth on simulated programs, and prints a table by scenario.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/jobjudge"
	"overlay/internal/testtrace/traceread"
)

func main() {
	n := flag.Int("n", 2000, "number of random programs")
	seed := flag.Uint64("seed", 1, "seed of the first program; the others follow")
	worst := flag.Int("worst", 20, "worst programs to list")
	class := flag.String("class", "", "judge these scenario classes only, with commas between them; of jobs, this cause")
	dump := flag.String("dump", "", "write the trace of -class at -seed to this file and stop")
	explain := flag.Bool("explain", false, "print the path found for -class at -seed beside the true one, and stop")
	whatIf := flag.Bool("whatif", false, "compare predictions of replays with re-simulated programs instead")
	jobs := flag.Int("jobs", 0, "judge this many jobs of many ranks instead")
	advice := flag.Int("advice", 0, "judge the advice on this many programs for each planted cause instead")
	flag.Parse()
	if *advice > 0 {
		if err := judgeAdvice(os.Stdout, *advice, *seed); err != nil {
			fmt.Fprintln(os.Stderr, "judge:", err)
			os.Exit(1)
		}
		return
	}
	if *jobs > 0 {
		jobjudge.WriteTable(os.Stdout, jobjudge.JudgeAll(*jobs, *seed, *class), *worst)
		return
	}
	if *dump != "" {
		var r testtrace.Run
		r.Simulate(testtrace.Random(*class, *seed))
		b, _ := r.Build()
		if err := os.WriteFile(*dump, b.JSON(), 0o666); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if *explain {
		if err := testtrace.Explain(os.Stdout, testtrace.Random(*class, *seed), *seed); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	classes := testtrace.Classes
	if *class != "" {
		classes = strings.Split(*class, ",")
	}
	if *whatIf {
		testtrace.WriteWhatIf(os.Stdout, testtrace.AskPrograms(*n, *seed, classes), *worst)
		return
	}
	testtrace.WriteTable(os.Stdout, testtrace.JudgeAll(*n, *seed, classes), *worst)
	if *class == "" {
		compareRecorded()
	}
}

// compareRecorded prints how inference does on real traces that have cuda_sync records, where there are any.
func compareRecorded() {
	corpus := os.Getenv("OVERLAY_CORPUS")
	if corpus == "" {
		corpus = "../shared/traces"
	}
	files, _ := filepath.Glob(filepath.Join(corpus, "*.json.gz"))
	if len(files) > 0 {
		fmt.Println("\nreal traces with cuda_sync records, which inference does not see")
	}
	for _, name := range files {
		if err := compareFile(name); err != nil {
			fmt.Fprintln(os.Stderr, "judge:", name, err)
		}
	}
}

func compareFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	tr, err := traceread.Read(f, name, kineto.Options{})
	if err != nil {
		return err
	}
	c, ok, err := testtrace.CompareRecorded(tr)
	if ok {
		c.WriteText(os.Stdout, filepath.Base(name))
	}
	return err
}
