package jobjudge

import (
	"testing"

	"overlay/internal/ranks"
)

// TestLarge: a large job in small is put together without a mistake.
func TestLarge(t *testing.T) {
	list := Large(32, 1)
	for _, s := range list {
		if err := s.Check(); err != nil || len(s.Ops) != LargeCollectives {
			t.Fatal(len(s.Ops), err)
		}
	}
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Check(); err != nil {
		t.Error(err)
	}
	if j.Matching.Complete != j.Matching.Instances || j.Matching.Unmatched > 0 {
		t.Errorf("%+v", j.Matching)
	}
}

// BenchmarkLarge puts 1,024 ranks with 2,200 collectives each together.
func BenchmarkLarge(b *testing.B) {
	list := Large(1024, 1)
	b.ReportAllocs()
	for b.Loop() {
		j, err := ranks.Join(list, ranks.Options{Step: -1})
		if err != nil {
			b.Fatal(err)
		}
		ranks.Judge(j, ranks.Expected{})
	}
}
