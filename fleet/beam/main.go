// Command beam exports many traces by Apache Beam and sums up what their critical paths are made of. The map is one call
// of `overlay export` for each trace; the reduction adds the time of each class over all of them.
//
//	go run . --input '/data/traces/*.json.gz' --output /data/tables --run job-4711
//
// Without --runner it runs on the prism runner inside this process. Flink, Spark and Dataflow are chosen by Beam's own
// flags (--runner, --endpoint, --project, …); their workers need the program overlay on PATH, or --overlay, and an input and output that
// all of them see.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
)

var (
	input  = flag.String("input", "", "the traces: a pattern such as '/data/traces/*.json.gz' or 'gs://bucket/traces/*.json.gz'")
	output = flag.String("output", "", "folder of the tables, as of 'overlay export -o', and of classes.csv")
	name   = flag.String("run", "", "name of the job")
	tool   = flag.String("overlay", "overlay", "the program overlay, as workers find it")
)

func main() {
	flag.Parse()
	beam.Init()
	if err := export(context.Background()); err != nil {
		log.Fatalf("beam: %v", err)
	}
}

func export(ctx context.Context) error {
	if *input == "" || *output == "" || *name == "" {
		return errors.New("--input, --output and --run are needed")
	}
	p, s := beam.NewPipelineWithRoot()
	if err := build(s, *input, *output, *name, *tool); err != nil {
		return err
	}
	if err := beamx.Run(ctx, p); err != nil {
		return fmt.Errorf("the pipeline failed: %w", err)
	}
	return nil
}
