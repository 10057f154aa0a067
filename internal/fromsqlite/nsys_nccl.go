package fromsqlite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// ncclGroup is a group of sends and receives that one thread put together: the kernel that does them all is launched by the call that ends
// the group (docs.nvidia.com/deeplearning/nccl, Group Calls).
type ncclGroup struct {
	thread      int64 // as serialised
	start, end  int64 // of the call that ends it
	sends, recv int64
}

// ncclGroups finds the groups by the ranges that NCCL itself pushes for each of its calls, ordered by thread and time.
func (r *reader) ncclGroups() ([]ncclGroup, error) {
	type call struct {
		name               string
		thread, start, end int64
	}
	var calls []call
	err := r.rows("NVTX_EVENTS", []string{"start", "end", "text", "textId", "globalTid", "eventType"}, func(s *sqlite3.Stmt) {
		name := s.ColumnText(2)
		if name == "" {
			name = r.names[s.ColumnInt64(3)]
		}
		if s.ColumnInt64(5) == nvtxPushPop && (strings.HasPrefix(name, "ncclGroup") || name == "ncclSend" || name == "ncclRecv") {
			calls = append(calls, call{name, s.ColumnInt64(4), s.ColumnInt64(0), s.ColumnInt64(1)})
		}
	})
	slices.SortStableFunc(calls, func(a, b call) int {
		return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.start, b.start))
	})
	var groups []ncclGroup
	var open ncclGroup
	depth := 0
	for i := range calls {
		c := &calls[i]
		if i == 0 || calls[i-1].thread != c.thread {
			open, depth = ncclGroup{thread: c.thread}, 0
		}
		switch c.name {
		case "ncclGroupStart":
			depth++
		case "ncclSend":
			open.sends++
		case "ncclRecv":
			open.recv++
		case "ncclGroupEnd":
			if depth = max(depth-1, 0); depth == 0 {
				open.start, open.end = c.start, c.end
				groups = append(groups, open)
				open = ncclGroup{thread: c.thread}
			}
		}
	}
	return groups, err
}

// noteExchanges notes the calls that launch an exchange of all with all, by correlation: a group with as many receives as sends, of more than
// two ranks, or of as many as have processes in the report. What a rank of a pipeline exchanges with its two neighbours is none.
func (r *reader) noteExchanges() error {
	groups, err := r.ncclGroups()
	if err != nil || len(groups) == 0 {
		return err
	}
	ranks := int64(0)
	if r.has("CUPTI_ACTIVITY_KIND_KERNEL", "globalPid") {
		if err := r.each("SELECT count(DISTINCT globalPid >> 24 & 0xffffff) FROM CUPTI_ACTIVITY_KIND_KERNEL", func(s *sqlite3.Stmt) { ranks = s.ColumnInt64(0) }); err != nil {
			return err
		}
	}
	r.exchanges = map[int64]int64{}
	return r.rows("CUPTI_ACTIVITY_KIND_RUNTIME", []string{"start", "globalTid", "correlationId"}, func(s *sqlite3.Stmt) {
		start, thread := s.ColumnInt64(0), s.ColumnInt64(1)
		i, found := slices.BinarySearchFunc(groups, start, func(g ncclGroup, t int64) int { return cmp.Or(cmp.Compare(g.thread, thread), cmp.Compare(g.start, t)) })
		if !found {
			i--
		}
		if i < 0 || groups[i].thread != thread || start >= groups[i].end {
			return
		}
		if g := &groups[i]; g.sends == g.recv && g.sends > 1 && (g.sends > 2 || g.sends == ranks) {
			r.exchanges[s.ColumnInt64(2)] = g.sends
		}
	})
}
