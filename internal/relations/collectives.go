package relations

import (
	"sort"

	"overlay/internal/cdg"
	"overlay/internal/columns"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// collective is one communication kernel.
type collective struct {
	event                                trace.EventID
	op, group, dtype, peers, description uint32
	seq, ranks, bytes                    int64 // -1 when unknown
	exposed                              int64
	bus                                  float64 // bytes on the bus for each byte
}

func (m *maker) collectives() (int, []column) {
	rows, texts := m.findCollectives()
	arg := func(f func(c *collective) uint32) columns.Data {
		return texts.data(func(i int) uint32 { return f(&rows[i]) })
	}
	rate := func(f func(c *collective) float64) func(i int) (float64, bool) {
		return func(i int) (float64, bool) {
			c := &rows[i]
			d := m.tr.Dur(m.event(c.event))
			if c.bytes <= 0 || d == 0 {
				return 0, false
			}
			return float64(c.bytes) * f(c) / float64(d), true // bytes a ns are 10^9 bytes a second
		}
	}
	return len(rows), []column{
		rising(int32s("event", tables.Ref, "the kernel", func(i int) int64 { return int64(rows[i].event) })),
		text("op", "what is done: allreduce, allgather, …; as recorded, else as the kernel is called", arg(func(c *collective) uint32 { return c.op })),
		null(text("process_group", "name of the group", arg(func(c *collective) uint32 { return c.group }))),
		ids64("seq", tables.ID, "number within the group", func(i int) int64 { return rows[i].seq }),
		ids32("ranks", tables.Count, "members of the group", func(i int) int64 { return rows[i].ranks }),
		ids64("bytes", tables.Bytes, "moved or reduced: the larger of what goes in and what comes out", func(i int) int64 { return rows[i].bytes }),
		null(text("dtype", "type of the elements", arg(func(c *collective) uint32 { return c.dtype }))),
		int64s("exposed_ns", tables.NS, "of its length, what no computation on the same device hides", func(i int) int64 { return rows[i].exposed }),
		int64s("ts_ns", tables.Time, "start", func(i int) int64 { return m.event(rows[i].event).Start }),
		int64s("dur_ns", tables.NS, "length; it includes the wait for the last member of the group", func(i int) int64 { return m.tr.Dur(m.event(rows[i].event)) }),
		int64s("critical_ns", tables.NS, "time on the path", func(i int) int64 { return m.criticalNS(rows[i].event) }),
		maybe32("step", tables.ID, "number of the ProfilerStep in which it starts", func(i int) (int64, bool) { return m.stepAt(m.event(rows[i].event).Start) }),
		ids32("device", tables.ID, "number of the GPU", func(i int) int64 {
			if t := m.event(rows[i].event).Track; t != trace.NoTrack {
				return m.deviceOf(t)
			}
			return -1
		}),
		maybe64("stream", tables.ID, "of the GPU", func(i int) (int64, bool) { return m.streamOf(rows[i].event) }),
		null(floats("gb_per_s", tables.PerSecond, "bytes over length, 10^9 bytes", rate(func(*collective) float64 { return 1 }))),
		null(floats("bus_gb_per_s", tables.PerSecond, "the same in bytes that each link has to carry, as benchmarks of collectives count: it does not depend on the number of ranks", rate(func(c *collective) float64 { return c.bus }))),
		null(text("peers", "ranks of the group as recorded", arg(func(c *collective) uint32 { return c.peers }))),
		null(text("description", "of the group as recorded", arg(func(c *collective) uint32 { return c.description }))),
	}
}

// findCollectives lists the communication kernels that start in the window, in the order of the input.
func (m *maker) findCollectives() ([]collective, *dict) {
	if m.comms != nil {
		return m.comms, &m.commTexts
	}
	m.comms = []collective{}
	comm := m.tr.ByName(vendors.IsCollective)
	for i := range m.tr.Events {
		if e := &m.tr.Events[i]; e.Ph == 'X' && e.Kind == trace.Kernel && m.inWindow(e.Start) && comm(e.Name) {
			m.comms = append(m.comms, m.collective(trace.EventID(i), &m.commTexts))
		}
	}
	if len(m.comms) > 0 {
		m.measureExposed(m.comms, comm)
	}
	return m.comms, &m.commTexts
}

func (m *maker) collective(id trace.EventID, texts *dict) collective {
	source, said := m.g.Collective(m.said, id)
	word := func(s string) uint32 {
		if s == "" {
			return noText
		}
		return texts.add(s)
	}
	peers, _ := m.tr.Arg(source, "Process Group Ranks") // as written: a long list is cut
	c := collective{event: id, op: word(said.Name), group: word(said.Group.Name), dtype: word(said.Dtype), peers: word(peers.Text),
		description: word(said.Group.Desc), seq: max(-1, said.Seq), ranks: max(-1, said.Group.Size), bytes: said.Bytes()}
	if c.op == noText {
		c.op = texts.add(opOf(m.tr.Name(id)))
	}
	c.bus = trace.BusFactor(texts.list[c.op], c.ranks)
	return c
}

func opOf(kernel string) string {
	if op := vendors.OperationIn(kernel); op != "" {
		return op
	}
	return vendors.CollectiveIn(kernel)
}

// measureExposed finds for each collective how much of it no computation on its device hides.
func (m *maker) measureExposed(rows []collective, comm func(trace.Sym) bool) {
	work := map[int64][]cdg.Span{} // per device
	for l := range m.g.Lanes {
		lane := &m.g.Lanes[l]
		if !lane.Stream {
			continue
		}
		device := m.deviceOf(lane.Track)
		for a := lane.First; a < lane.Limit; a++ {
			act := &m.g.Acts[a]
			if e := m.event(act.Event); e.Kind == trace.Kernel && !comm(e.Name) && act.End > act.Start {
				work[device] = append(work[device], cdg.Span{Start: act.Start, End: act.End})
			}
		}
	}
	before := map[int64][]int64{} // time covered before each span
	for device, list := range work {
		list = critpath.Joined(list)
		sums, sum := make([]int64, len(list)), int64(0)
		for i, s := range list {
			sums[i], sum = sum, sum+s.End-s.Start
		}
		work[device], before[device] = list, sums
	}
	covered := func(device, t int64) int64 { // by computation before t
		list := work[device]
		i := sort.Search(len(list), func(i int) bool { return list[i].Start >= t }) - 1
		if i < 0 {
			return 0
		}
		return before[device][i] + min(t, list[i].End) - list[i].Start
	}
	for i := range rows {
		e := m.event(rows[i].event)
		device := int64(-1)
		if a := m.g.ActOf[rows[i].event]; a != cdg.NoAct {
			device = m.deviceOf(m.g.Lanes[m.g.Acts[a].Lane].Track)
		}
		rows[i].exposed = m.tr.Dur(e) - (covered(device, m.tr.End(e)) - covered(device, e.Start))
	}
}
