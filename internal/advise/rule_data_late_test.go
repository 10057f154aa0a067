package advise

const workerName = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

// fetches has a step for each of some fetches from workers.
func (s *scene) fetches(mark bool, durs ...int64) {
	for _, d := range durs {
		if e := s.annotate(workerName, d, nothing); mark && d > lateFetch {
			s.mark(e)
		}
		s.work(10)
	}
}

func init() {
	cases["data-workers-late"] = ruleCase{
		planted: []func(*scene){func(s *scene) { s.fetches(true, 200_000, 6_000_000, 200_000, 7_000_000) }},
		alike: []func(*scene){
			func(s *scene) { s.fetches(false, 200_000, 300_000, 900_000, 100_000) }, // batches are ready
			func(s *scene) { s.fetches(false, 6_000_000, 200_000, 200_000, 200_000) },
		},
	}
}
