package testtrace

import (
	"fmt"
	"io"
)

// Explain prints the path that is found for a program beside the true one, where they part: a line for each stretch in
// which either goes on in another activity.
func Explain(w io.Writer, p *Program, seed uint64) error {
	var j Judge
	v, path := j.solve(p, seed)
	if v.Err != nil {
		return v.Err
	}
	truth := j.run.Path()
	for i := range truth {
		x := &truth[i]
		x.Start, x.End, x.Owner = j.stamp(x.Start), j.stamp(x.End), j.shown(x.Owner)
	}
	k := 0
	for _, s := range path.Segments.All() {
		for t := s.Start; t < s.End; {
			for k < len(truth) && truth[k].End <= t {
				k++
			}
			end, right := s.End, "nothing"
			owner := int32(-2)
			if k < len(truth) && truth[k].Start <= t {
				end, owner = min(end, truth[k].End), truth[k].Owner
				right = fmt.Sprintf("%s %s %s", j.sort(owner), j.name(owner), ruleWords[truth[k].why])
			} else if k < len(truth) {
				end = min(end, truth[k].Start)
			}
			mark := " "
			if owner != j.owner(s) {
				mark = "x"
			}
			fmt.Fprintf(w, "%s %9d %9d  %-14s %-44s %-12s | %s\n", mark, t, end, s.Kind, j.name(j.owner(s)), s.Evidence, right)
			t = end
		}
	}
	return nil
}
