package main

import "testing"

func TestPace(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		live, scanned uint64
		want          int
		why           string
	}{
		{0, 0, gcMost, "nothing in use"},
		{1 * mb, 0, gcMost, "little in use"},
		{8 * mb, 1 * mb, 100, "8 MiB more"},
		{80 * mb, 1 * mb, 10, "8 MiB more of a trace"},
		{1000 * mb, 2 * mb, gcLeast, "a large trace"},
		{80 * mb, 40 * mb, 50, "half of it may hold pointers"},
		{100 * mb, 100 * mb, 100, "nothing but pointers"},
	} {
		if got := pace(c.live, c.scanned); got != c.want {
			t.Errorf("%s: %d %% of %d bytes, want %d", c.why, got, c.live, c.want)
		}
	}
}
