package testtrace

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/trace"
)

// write makes the trace of a rank.
func (j *Job) write(rank int32) {
	k := &j.Ranks[rank]
	if !k.Recorded {
		return
	}
	k.File = j.fileName(k)
	b := New()
	if !j.CPU {
		b.Device = "NVIDIA H100 80GB HBM3"
	}
	b.NoFlows = j.Seed%2 == 0
	base := int64(1_759_104_000_000_000_000)
	switch {
	case j.has("old"):
		b.IntegerMicros, base = true, 0
	case j.has("bases") && rank%3 == 1:
		base += 7_776_000_000_000_000 // a quarter of a year later
		fallthrough
	default:
		b.BaseTime = base
	}
	b.Extra = j.metadata(k)
	pid := 4000 + k.Device
	threads := [2]*Thread{b.Thread(pid, pid, fmt.Sprintf("thread %d (python)", pid)), b.Thread(pid, pid+500, fmt.Sprintf("thread %d (pt_autograd_0)", pid+500))}
	var streams []*Stream
	workers := map[int32]*Thread{} // of a job without devices, by row
	for i, n := range j.workers[rank].streams {
		if j.CPU {
			workers[jobCompute+int32(i)] = b.Thread(pid, pid+1000+n, fmt.Sprintf("thread %d (pt_main_thread)", pid+1000+n))
			continue
		}
		streams = append(streams, b.Stream(k.Device, n))
	}
	for i := range j.acts {
		a := &j.acts[i]
		if a.rank != rank || a.lost {
			continue
		}
		start, end := j.bounds(int32(i))
		from, dur := k.Clock.Local(start)-base, k.Clock.Local(end)-k.Clock.Local(start)
		if a.kind == jobKernel { // the device measures how long it takes
			dur = k.Clock.Local(end) - k.Clock.Local(start)
		}
		var e *Event
		switch {
		case a.kind == jobKernel && j.CPU:
			e = workers[a.row].slice(sliceKinds[kindAnnotation], a.name, from, dur).Arg("External id", 1000+i)
			j.note(a, int32(i), e)
		case a.kind == jobKernel:
			e = j.writeKernel(streams[a.row-jobCompute], a, from, dur)
			j.note(a, int32(i), e)
		case a.kind == jobCall && strings.HasPrefix(a.name, "cudaLaunch"):
			e = threads[a.row].Launch(a.name, from, dur, a.corr)
		case a.kind == jobCall:
			e = threads[a.row].Call(a.name, from, dur, a.corr)
		default:
			e = threads[a.row].slice(sliceKinds[a.kind], a.name, from, dur).Arg("External id", 1000+i)
			if a.inst >= 0 {
				j.describe(e, a, a.name == "record_param_comms")
			} else if dims, types := j.inputs(a); dims != "" {
				e.Arg("Input Dims", Raw(dims)).Arg("Input type", Raw(types))
			}
		}
		for len(k.Events) < b.Len() {
			k.Events = append(k.Events, -1)
		}
		k.Events[e.id] = int32(i)
	}
	k.build = b
}

// note keeps which event shows the part of a rank in a collective.
func (j *Job) note(a *jobAct, act int32, e *Event) {
	for m := range j.membersOf(a) {
		if mem := &j.Instances[a.inst].Members[m]; mem.act == act {
			mem.Event = e.id
		}
	}
}

func (j *Job) membersOf(a *jobAct) []JobMember {
	if a.inst < 0 {
		return nil
	}
	return j.Instances[a.inst].Members
}

func (j *Job) writeKernel(s *Stream, a *jobAct, from, dur int64) *Event {
	e := s.b.add(event{ph: 'X', cat: "kernel", name: a.name, pid: s.Device, tid: s.Number, start: from, dur: dur})
	e.Arg("External id", 1000+int64(a.op)).Arg("device", s.Device).Arg("context", 1).Arg("stream", s.Number).Arg("correlation", a.corr).
		Arg("registers per thread", 96).Arg("grid", Raw(j.grid(a))).Arg("block", Raw("[544, 1, 1]"))
	if a.inst >= 0 && !(j.has("bare") && (a.corr+int64(a.rank))%3 == 0) {
		j.describe(e, a, false)
	}
	if !s.b.NoFlows {
		s.b.add(event{ph: 'f', cat: "ac2g", name: "ac2g", pid: s.Device, tid: s.Number, start: from, flow: a.corr, flags: hasFlow | bindEnd})
	}
	return e
}

// jobRows and jobWidth are the rows of a usual batch, and how wide they are.
const (
	jobRows  = 8192
	jobWidth = 512
)

// batch is how many rows a rank is given where an activity belongs.
func (j *Job) batch(a *jobAct) int64 { return int64(jobRows * j.rows(a.rank, a.step)) }

// grid is that of a kernel: a block for some rows, and for the optimizer and collectives what they always have.
func (j *Job) grid(a *jobAct) string {
	if a.inst >= 0 || fixed[a.name] {
		return "[8, 1, 1]"
	}
	return fmt.Sprintf("[%d, 1, 1]", j.batch(a)/16)
}

// inputs gives the shapes and types of the inputs of an operator, empty where they are not recorded: activations, and weights of products and of norms. Lists of tensors, as the optimizer
// has, say nothing.
func (j *Job) inputs(a *jobAct) (dims, types string) {
	if j.NoShapes || a.kind != kindOp {
		return "", ""
	}
	rows := j.batch(a)
	switch name := strings.TrimPrefix(a.name, "autograd::engine::evaluate_function: "); {
	case name == "aten::linear":
		return fmt.Sprintf("[[%d, %d], [%d, %d], [%d]]", rows, jobWidth, jobWidth, jobWidth, jobWidth), `["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"]`
	case name == "aten::addmm":
		return fmt.Sprintf("[[%d], [%d, %d], [%d, %d]]", jobWidth, rows, jobWidth, jobWidth, jobWidth), `["float", "float", "float"]`
	case name == "aten::mm":
		return fmt.Sprintf("[[%d, %d], [%d, %d]]", jobWidth, rows, rows, jobWidth), `["float", "float"]`
	case name == "aten::layer_norm":
		return fmt.Sprintf("[[%d, %d], [], [%d]]", rows, jobWidth, jobWidth), `["c10::BFloat16", "ScalarList", "c10::BFloat16"]`
	case name == "aten::scaled_dot_product_attention":
		one := fmt.Sprintf("[8, 8, %d, 64]", rows/8)
		return "[" + one + ", " + one + ", " + one + "]", `["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"]`
	case name == "aten::addcdiv_":
		return fmt.Sprintf("[[%d, %d], [%d, %d], [%d, %d]]", jobWidth, jobWidth, jobWidth, jobWidth, jobWidth, jobWidth), `["float", "float", "float"]`
	case slices.Contains(jobBwdOps, name), name == "aten::gelu", name == "aten::bmm", name == "aten::cross_entropy_loss":
		return fmt.Sprintf("[[%d, %d]]", rows, jobWidth), `["c10::BFloat16"]`
	case name == "aten::_fused_adamw_":
		return "[[[512, 512]], [[512, 512]]]", `["TensorList", "TensorList"]`
	case name == "aten::add":
		return fmt.Sprintf("[[%d, %d], [%d, %d], []]", rows, jobWidth, rows, jobWidth), `["c10::BFloat16", "c10::BFloat16", "Scalar"]`
	}
	return "", ""
}

// describe says of an event what PyTorch says of a collective. Old versions say nothing.
func (j *Job) describe(e *Event, a *jobAct, op bool) {
	if j.has("old") {
		return
	}
	in := &j.Instances[a.inst]
	g := &j.Groups[in.Group]
	n := int64(len(g.Ranks))
	coll, out := in.Coll, in.Elems
	switch coll {
	case "_allgather_base":
		out *= n
	case "_reduce_scatter_base":
		out /= n
	case "send":
		peer := in.Members[0].Rank
		if peer == a.rank {
			peer = in.Members[1].Rank
		}
		from, to := "Src Rank", "Dst Rank"
		if in.sender == a.rank {
			e.Arg(to, j.positionIn(in.Group, peer))
		} else {
			coll = "recv"
			e.Arg(from, j.positionIn(in.Group, peer))
		}
	}
	e.Arg("Collective name", coll).Arg("In msg nelems", in.Elems).Arg("Out msg nelems", out).Arg("Group size", n).Arg("dtype", "BFloat16").
		Arg("In split size", "[]").Arg("Out split size", "[]").Arg("Process Group Name", g.Name).Arg("Process Group Description", g.Desc).
		Arg("Process Group Ranks", rankList(g.Ranks))
	if op {
		stride := int64(1)
		if n > 1 {
			stride = int64(g.Ranks[1] - g.Ranks[0])
		}
		e.Arg("Rank", int64(a.rank)).Arg("Global rank start", int64(g.Ranks[0])).Arg("Global rank stride", stride)
	}
	if j.has("seq") && coll != "send" && coll != "recv" {
		e.Arg("Seq", int64(in.number))
	}
}

// rankList is the list of the ranks of a group as PyTorch writes it: of more than 30 the first 29 and the last.
func rankList(ranks []int32) string {
	var s strings.Builder
	s.WriteByte('[')
	for i, r := range ranks {
		switch {
		case len(ranks) > 30 && i == 29:
			s.WriteString(", ...")
			continue
		case len(ranks) > 30 && i > 29 && i < len(ranks)-1:
			continue
		case i > 0:
			s.WriteString(", ")
		}
		s.WriteString(itoa(int64(r)))
	}
	return s.String() + "]"
}

// metadata is the top-level text of a rank.
func (j *Job) metadata(k *JobRank) string {
	backend := "nccl"
	if j.CPU {
		backend = "gloo"
	}
	s := fmt.Sprintf(`"distributedInfo": {"backend": "%s", "rank": %d, "world_size": %d`, backend, k.Rank, j.World)
	if j.has("old") {
		return s + "}"
	}
	var groups []string
	for _, g := range j.Groups {
		if len(groups) < 15 && contains(g.Ranks, k.Rank) { // the list is cut
			groups = append(groups, fmt.Sprintf(`{"pg_name": "%s", "pg_desc": "%s", "backend_config": "cuda:nccl", "pg_size": %d, "ranks": %s}`, g.Name, g.Desc, len(g.Ranks), rankNumbers(g.Ranks)))
		}
	}
	return s + fmt.Sprintf(`, "pg_count": %d, "pg_config": [%s], "nccl_version": "2.21.5"}, "host_name": "%s"`, len(j.Groups), strings.Join(groups, ", "), k.Host)
}

func rankNumbers(ranks []int32) string {
	var list []string
	for _, r := range ranks {
		list = append(list, itoa(int64(r)))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func contains(ranks []int32, r int32) bool {
	for _, q := range ranks {
		if q == r {
			return true
		}
	}
	return false
}

// fileName is one of those that PyTorch, TensorBoard and users give.
func (j *Job) fileName(k *JobRank) string {
	switch j.Seed % 3 {
	case 0:
		return fmt.Sprintf("rank%d_trace.json", k.Rank)
	case 1:
		return fmt.Sprintf("%s_%d.%d.pt.trace.json", k.Host, 4000+k.Device, 1_760_000_000_000+int64(k.Rank)*7)
	}
	return fmt.Sprintf("worker%d_step_12.%d.pt.trace.json", k.Rank, 1_694_128_201_545+int64(k.Rank)*3)
}

// JSON is the trace of a rank, nil when it has none.
func (j *Job) JSON(rank int32) []byte {
	if j.Ranks[rank].build == nil {
		return nil
	}
	return j.Ranks[rank].build.JSON()
}

// ActOf is the activity of an event of a rank's trace, -1 for none.
func (j *Job) ActOf(rank int32, event trace.EventID) int32 {
	k := &j.Ranks[rank]
	if event < 0 || int(event) >= len(k.Events) {
		return -1
	}
	return k.Events[event]
}
