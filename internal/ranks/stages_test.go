package ranks

import (
	"slices"
	"testing"
)

// TestStagesByTransfers: places that send to and fro are stages, in their order; a ring, in which all go one way, has none.
func TestStagesByTransfers(t *testing.T) {
	job := func(names ...[]string) *Job {
		j := &Job{}
		for _, list := range names {
			s := &Summary{}
			for _, name := range list {
				between, up := places(name)
				k := Kind{Coll: SendRecv, Peer: NoRank, Sends: name[0] == 's'}
				k.Token = token(&k, name, between) | direction(up)
				s.Kinds = append(s.Kinds, k)
			}
			j.Members = append(j.Members, Member{Summary: s})
		}
		return j
	}
	for name, c := range map[string]struct {
		job  *Job
		want []int
	}{
		"three stages, from the last": {job([]string{"recv 2<-1", "send 2->1"}, []string{"send 1->2", "recv 1<-2", "recv 1<-0", "send 1->0"}, []string{"send 0->1", "recv 0<-1"}), []int{2, 1, 0}},
		"with turns":                  {job([]string{"send 0->1", "recv 0<-1", "recv 0<-2", "send 0->2"}, []string{"recv 1<-0", "send 1->0", "send 1->2", "recv 1<-2"}, []string{"recv 2<-1", "send 2->1", "send 2->0", "recv 2<-0"}), []int{0, 1, 2}},
		"a ring":                      {job([]string{"send 0->1", "recv 0<-2"}, []string{"recv 1<-0", "send 1->2"}, []string{"recv 2<-1", "send 2->0"}), []int{-1, -1, -1}},
		"beside it":                   {job([]string{"send 0->1", "recv 0<-1"}, []string{"recv 1<-0", "send 1->0"}, nil), []int{0, 1, -1}},
		"below each other":            {job([]string{"send 0->1", "recv 0<-1", "send 1->0", "recv 1<-0"}, []string{"send 1->0", "recv 1<-0", "send 0->1", "recv 0<-1"}, nil), []int{-1, -1, -1}},
		"no places":                   {job([]string{"send"}, []string{"recv"}), []int{-1, -1}},
	} {
		if got := c.job.stagesByTransfers(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
