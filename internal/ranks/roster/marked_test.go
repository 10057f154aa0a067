package roster

import "testing"

// TestMarked: the rank in a name, and what is left of the name, which all ranks of a run share.
func TestMarked(t *testing.T) {
	for _, c := range []struct {
		name string
		rank int64
		rest string
	}{
		{"rank3_step10", 3, "_step10"},
		{"night-7-rank12", 12, "night-7"},
		{"trace.rank[5].json", 5, "trace.json"},
		{"run-TP-1", 1, "run"},
		{"frank", -1, "frank"},
		{"night-12", -1, "night-12"},
		{"rank12345678901", -1, "rank12345678901"},
	} {
		if rank, rest := Marked(c.name); rank != c.rank || rest != c.rest {
			t.Errorf("%s: rank %d and %q, want %d and %q", c.name, rank, rest, c.rank, c.rest)
		}
	}
}
