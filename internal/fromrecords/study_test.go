package fromrecords_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"overlay/internal/coarse"
	"overlay/internal/fromrecords"
	"overlay/internal/kineto"
	"overlay/internal/testtrace/corpus"
)

// published is what the study of stragglers says of a job.
type published struct {
	Recorded map[string]float64 `json:"step_t_base"`
	Replayed map[string]float64 `json:"step_t_nodelay"`
	Even     map[string]float64 `json:"step_t_noblk"`
	Gaps     float64            `json:"launch_slowdown"`
	Slowdown float64            `json:"blocking_slowdown"`
	Replicas map[string]float64 `json:"blocking_decompose_by_dp_rank"`
	Stages   map[string]float64 `json:"blocking_decompose_by_stage"`
	Kinds    map[string]float64 `json:"blocking_decompose_by_optype"`
}

// load reads JSON of the study.
func load(t *testing.T, name string, to any) {
	b, err := os.ReadFile(corpus.World(t, "straggler-study/"+name))
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// records reads coarse records.
func records(t *testing.T, src []byte, name string) *coarse.Job {
	_, err := fromrecords.Parse(src, name, kineto.Options{}, nil)
	var found *fromrecords.Records
	if !errors.As(err, &found) {
		t.Fatal(err)
	}
	return found.Job
}

// TestStudy compares with what the study has published of two real jobs: of 8 ranks of which the last stage has more work, and of 64, recorded
// by 16, of which one is slow.
func TestStudy(t *testing.T) {
	for _, c := range []struct {
		name  string
		rank  int32
		stage string
	}{{"ST", 7, "stage 3"}, {"AR", 0, "stage 0"}} {
		t.Run(c.name, func(t *testing.T) {
			src, err := os.ReadFile(corpus.World(t, "straggler-study/trace-"+c.name+".parquet"))
			if err != nil {
				t.Fatal(err)
			}
			var p published
			load(t, "result-"+c.name+".json", &p)
			job := records(t, src, c.name)
			s := job.Judge()
			near := func(what string, got, want, within float64) {
				t.Helper()
				t.Logf("%-36s %9.5f, published %9.5f", what, got, want)
				if math.Abs(got/want-1) > within {
					t.Errorf("%s: %v, published %v", what, got, want)
				}
			}
			if s.Residual != 0 {
				t.Errorf("a replay of what was recorded is off by %d ns", s.Residual)
			}
			if s.Steps != len(p.Recorded) || s.Unmatched != 0 {
				t.Errorf("%d steps of %d, %d operations meet nobody", s.Steps, len(p.Recorded), s.Unmatched)
			}
			near("slowdown", s.Slowdown, p.Slowdown, 0.005)
			near("gaps", float64(s.Recorded)/float64(s.Replayed), p.Gaps, 0.005)
			if len(s.ByStage) != len(p.Stages) || len(s.ByReplica) != len(p.Replicas) {
				t.Error(s.ByStage, s.ByReplica)
			}
			for _, x := range s.ByStage {
				near(x.Name, x.Slowdown, p.Stages[x.Name[len("stage "):]], 0.02)
			}
			for _, x := range s.ByReplica {
				near(x.Name, x.Slowdown, p.Replicas[x.Name[len("replica "):]], 0.02)
			}
			pairs := map[string]float64{}
			for _, x := range s.ByKind {
				name := x.Name
				if want, ok := p.Kinds[name]; ok {
					near(name, x.Slowdown, want, 0.02)
				} else {
					t.Log(name, x.Slowdown)
					pairs[name] = x.Slowdown
				}
			}
			if len(pairs) != 4 { // the study counts sends and receives together
				t.Error("not published:", pairs)
			}
			if s.ByStage[0].Name != c.stage || s.ByRank[0].Rank != c.rank {
				t.Errorf("%s and rank %d come first, not %s and %d", s.ByStage[0].Name, s.ByRank[0].Rank, c.stage, c.rank)
			}
			var m struct{ Mw, Ms float64 }
			load(t, "mw-"+c.name+".json", &m)
			load(t, "ms-"+c.name+".json", &m)
			for _, x := range []struct {
				what      string
				got, want float64
			}{{"M_W", s.MW, m.Mw}, {"M_S", s.MS, m.Ms}} {
				t.Logf("%s %.4f, published %.4f", x.what, x.got, x.want)
				if math.Abs(x.got-x.want) > 0.05 {
					t.Errorf("%s is %.4f, published %.4f", x.what, x.got, x.want)
				}
			}
		})
	}
}
