package analyses

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"overlay/internal/critpath/hta"
	"overlay/internal/kineto"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/traceread"
	"overlay/internal/trace"
)

// The peer's own results on real traces, against ours on the peer's event set and rounding.

// peerType is the peer's kernel type by name.
var (
	peerComm   = regexp.MustCompile(`^nccl|^hip|^hccl|ncclKernel`)
	peerMemory = regexp.MustCompile(`^(hip)?Memcpy|^(hip)?Memset|^dma`)
	peerNoWork = regexp.MustCompile(`^nccl|Memcpy|Memset|dma|^.*Sync|^Stream Wait Event|cuda.*LaunchKernel|^runFunction|^hip|^job_exe|^packet|^pe_exe|^cpum_exe_subgraph|^hccl|^collective_subgraph_execution`)
)

func peerType(name string) Type {
	switch {
	case peerComm.MatchString(name):
		return CommunicationType
	case peerMemory.MatchString(name):
		return Memory
	case !peerNoWork.MatchString(name):
		return Computation
	}
	return OtherType
}

// peerSet is the Set of the peer's data frame: devices merged, streams by number, records of waits among the operations
// when sync is set; keep chooses which operations have a launch.
func peerSet(tr *trace.Trace, sync bool, keep func(launch string) bool) *Set {
	s := &Set{Trace: tr, Start: math.MinInt64, End: math.MaxInt64}
	rows := hta.Rows(tr, false)
	at := map[trace.EventID]*hta.Row{}
	for i := range rows {
		at[rows[i].Event] = &rows[i]
	}
	var hosts []hta.Row
	for _, r := range rows {
		e := &tr.Events[r.Event]
		if r.Stream == -1 {
			hosts = append(hosts, r)
			continue
		}
		if !sync && tr.Category(r.Event) == "cuda_sync" {
			continue
		}
		op := Op{Start: r.TS, End: r.TS + r.Dur, Stream: r.Stream, Event: r.Event, Launch: trace.NoEvent, Name: e.Name, Type: peerType(tr.Str(e.Name))}
		if l := at[r.Partner]; r.Partner != trace.NoEvent && l != nil && keep(tr.Name(r.Partner)) {
			op.Launch, op.LaunchStart, op.LaunchEnd = r.Partner, l.TS, l.TS+l.Dur
		}
		s.Ops = append(s.Ops, op)
	}
	s.Host = peerHosts(tr, hosts)
	s.index()
	return s
}

// peerHosts nests CPU rows by a stack.
func peerHosts(tr *trace.Trace, rows []hta.Row) []Host {
	slices.SortStableFunc(rows, func(a, b hta.Row) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.TID, b.TID), cmp.Compare(a.TS, b.TS), cmp.Compare(b.Dur, a.Dur), cmp.Compare(a.Event, b.Event))
	})
	var out []Host
	var stack []int32
	for i, r := range rows {
		if i > 0 && (rows[i-1].PID != r.PID || rows[i-1].TID != r.TID) {
			stack = stack[:0]
		}
		for len(stack) > 0 && (out[stack[len(stack)-1]].End < r.TS || out[stack[len(stack)-1]].End == r.TS && r.Dur > 0) {
			stack = stack[:len(stack)-1]
		}
		e := &tr.Events[r.Event]
		h := Host{Start: r.TS, End: r.TS + r.Dur, Event: r.Event, Parent: -1, Name: e.Name, Kind: e.Kind}
		if n := len(stack); n > 0 {
			h.Parent, h.Depth = stack[n-1], out[stack[n-1]].Depth+1
		}
		stack = append(stack, int32(len(out)))
		out = append(out, h)
	}
	return out
}

func anyLaunch(string) bool { return true }

// table is a data frame of the peer's results.
type table struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

type peerResult struct {
	Trace string            `json:"trace"`
	Files map[string]string `json:"files"`
	raw   map[string]json.RawMessage
}

func (p *peerResult) get(t *testing.T, key string, v any) bool {
	raw, ok := p.raw[key]
	if !ok || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return true
}

var parsed = map[string]*trace.Trace{} // tests of a package run one after another

func eachPeer(t *testing.T, run func(t *testing.T, p *peerResult, tr *trace.Trace)) {
	dir := corpus.Dir(t)
	files, _ := filepath.Glob(filepath.Join(dir, "../golden/hta-analyzers/*.json"))
	if len(files) == 0 {
		t.Skip("no results of the peer are here")
	}
	compared := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p := &peerResult{}
		if err := json.Unmarshal(b, p); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &p.raw); err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Files {
			path := filepath.Join(dir, filepath.Base(name))
			if !corpus.Small(path) {
				continue
			}
			tr := parsed[path]
			if tr == nil {
				r, err := os.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				tr, err = traceread.Read(r, path, kineto.Options{})
				r.Close()
				if err != nil {
					t.Fatal(err)
				}
				parsed[path] = tr
			}
			t.Run(p.Trace, func(t *testing.T) {
				defer func() {
					if !t.Skipped() {
						compared++
					}
				}()
				run(t, p, tr)
			})
		}
	}
	if compared == 0 {
		t.Error("none of the peer's results was compared")
	}
}

func num(v any) float64 {
	if f, ok := v.(float64); ok {
		return f
	}
	return math.NaN()
}

// same compares with the peer's rounding to digits decimals; NaN stands for the peer's null.
func same(got, want float64, digits int) bool {
	if math.IsNaN(want) {
		return got == 0 || math.IsNaN(got)
	}
	return math.Abs(got-want) <= 0.51*math.Pow(10, -float64(digits))+1e-9*math.Abs(want)
}

func us(ns int64) float64 { return float64(ns) / 1000 }

func TestTemporalLikePeer(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peerResult, tr *trace.Trace) {
		var want table
		if !p.get(t, "temporal_breakdown", &want) {
			t.Skip("the peer did not finish")
		}
		s := peerSet(tr, true, anyLaunch)
		if slices.ContainsFunc(s.Ops, func(o Op) bool { return o.End < o.Start }) {
			t.Skip("the peer's rounding makes durations of -1 here, and it counts them as negative busy time")
		}
		got := temporal(s, Options{})
		if len(got) != 1 {
			t.Fatalf("%d devices", len(got))
		}
		d, w := got[0], want.Rows[0]
		if us(d.Idle) != num(w[1]) || us(d.Computation) != num(w[2]) || us(d.Communication+d.Copies) != num(w[3]) || us(d.Span) != num(w[4]) {
			t.Errorf("idle %g, computation %g, rest %g, span %g; the peer has %v", us(d.Idle), us(d.Computation), us(d.Communication+d.Copies), us(d.Span), w)
		}
	})
}

func TestOverlapLikePeer(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peerResult, tr *trace.Trace) {
		var want table
		if !p.get(t, "comm_comp_overlap", &want) {
			t.Skip("the peer did not finish")
		}
		got := overlap(peerSet(tr, true, anyLaunch), Options{})
		if w := num(want.Rows[0][1]); !same(100*got[0].Ratio, w, 2) {
			t.Errorf("overlap %.3f %%, the peer has %v", 100*got[0].Ratio, want.Rows[0][1])
		}
	})
}

// overlapping reports whether operations of a stream overlap: there the peer counts gaps below 0.
func overlapping(s *Set, st *Stream) bool {
	for i := 1; i < len(st.Ops); i++ {
		if s.Ops[st.Ops[i]].Start < s.Ops[st.Ops[i-1]].End {
			return true
		}
	}
	return false
}

func TestIdleLikePeer(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peerResult, tr *trace.Trace) {
		var tables []table
		for k := range p.raw {
			if strings.HasPrefix(k, "idle_time_breakdown_rank") {
				p.get(t, k, &tables)
			}
		}
		if len(tables) < 2 {
			t.Skip("the peer did not finish")
		}
		s := peerSet(tr, false, anyLaunch)
		got := map[string]CauseTime{}
		for _, st := range idle(s, Options{}) {
			for _, c := range st.Causes {
				got[fmt.Sprint(st.Stream, c.Cause)] = c
			}
		}
		skip := map[string]bool{}
		for i := range s.Streams {
			skip[fmt.Sprint(s.Streams[i].Stream)] = overlapping(s, &s.Streams[i])
		}
		compared := 0
		for _, w := range tables[0].Rows {
			stream := fmt.Sprint(int64(num(w[1])))
			c := got[stream+w[2].(string)]
			if skip[stream] {
				continue
			}
			compared++
			if us(c.NS) != num(w[3]) || !same(c.Share, num(w[4]), 2) {
				t.Errorf("%v: idle %g share %.3f", w, us(c.NS), c.Share)
			}
		}
		for _, w := range tables[1].Rows {
			stream := fmt.Sprint(int64(num(w[2])))
			c := got[stream+w[0].(string)].Stats
			if skip[stream] {
				continue
			}
			for i, v := range []float64{float64(c.Count), c.Mean / 1000, c.Std / 1000, c.Min / 1000, c.P25 / 1000, c.P50 / 1000, c.P75 / 1000, c.Max / 1000} {
				if !same(v, num(w[3+i]), 2) {
					t.Errorf("%v: column %s is %g", w, tables[1].Columns[3+i], v)
				}
			}
		}
		t.Logf("%d rows compared, %d of %d streams left out because operations overlap there", compared, count(skip), len(skip))
	})
}

func count(m map[string]bool) (n int) {
	for _, v := range m {
		if v {
			n++
		}
	}
	return
}

func TestLaunchStatsLikePeer(t *testing.T) {
	corpus.Files(t)
	names := map[string]bool{"cudaLaunchKernel": true, "cudaLaunchKernelExC": true, "runFunction - job_prep_and_submit_for_execution": true}
	for _, mem := range []bool{false, true} {
		key := "cuda_kernel_launch_stats_nomem"
		if mem {
			key = "cuda_kernel_launch_stats_mem"
			names["cudaMemcpyAsync"], names["cudaMemsetAsync"] = true, true
		}
		t.Run(key, func(t *testing.T) {
			eachPeer(t, func(t *testing.T, p *peerResult, tr *trace.Trace) {
				var want map[string]struct {
					Rows     int
					Sum      map[string]float64
					Describe table
				}
				if !p.get(t, key, &want) {
					t.Skip("the peer did not finish")
				}
				r := launches(peerSet(tr, true, func(n string) bool { return names[n] }), Options{})
				for _, w := range want {
					if r.Pairs != w.Rows {
						t.Errorf("%d pairs, the peer has %d", r.Pairs, w.Rows)
					}
					for _, row := range w.Describe.Rows {
						for col, s := range map[int]Stats{2: r.CPU, 3: r.GPU, 4: r.Delay} {
							v := map[string]float64{"count": float64(s.Count) * 1000, "mean": s.Mean, "std": s.Std, "min": s.Min, "25%": s.P25, "50%": s.P50, "75%": s.P75, "max": s.Max}[row[0].(string)] / 1000
							if !same(v, num(row[col]), 6) {
								t.Errorf("%s %s: %g, the peer has %v", row[0], w.Describe.Columns[col], v, row[col])
							}
						}
					}
				}
			})
		})
	}
}

func TestQueueLikePeer(t *testing.T) {
	// The names that the peer counts as launches.
	launches := regexp.MustCompile(`^(cudaLaunchKernel(ExC)?|cuLaunchKernel(Ex)?|cudaMem(cpy|set)Async|runFunction - job_prep_and_submit_for_execution|hipLaunchKernel|hipExtModuleLaunchKernel|hipMem(set|cpy)Async|hipMemcpyWithStream)$`)
	eachPeer(t, func(t *testing.T, p *peerResult, tr *trace.Trace) {
		var want table
		if !p.get(t, "queue_length_summary", &want) {
			t.Skip("the peer did not finish")
		}
		// The peer sorts without order among equal times: its figures lie between launches first and starts first.
		set := peerSet(tr, true, launches.MatchString)
		first, last := map[int64]Stats{}, map[int64]Stats{}
		for _, q := range queue(set, Options{QueueLimit: 10}) {
			first[q.Stream] = q.Waiting
		}
		for i := range set.Ops {
			set.Ops[i].LaunchStart++
		}
		for _, q := range queue(set, Options{QueueLimit: 10}) {
			last[q.Stream] = q.Waiting
		}
		for _, w := range want.Rows {
			hi, lo := first[int64(num(w[1]))], last[int64(num(w[1]))]
			if float64(hi.Count) != num(w[2]) {
				t.Errorf("stream %v: %d rows, the peer has %v", w[1], hi.Count, w[2])
			}
			for i, v := range [][2]float64{{lo.Mean, hi.Mean}, {lo.Min, hi.Min}, {lo.P25, hi.P25}, {lo.P50, hi.P50}, {lo.P75, hi.P75}, {lo.Max, hi.Max}} {
				x := num(w[[]int{3, 5, 6, 7, 8, 9}[i]])
				if x < v[0]-1e-9 || x > v[1]+1e-9 {
					t.Errorf("stream %v %s: %v, the peer has %v", w[1], want.Columns[[]int{3, 5, 6, 7, 8, 9}[i]], v, x)
				}
			}
		}
		var blocked table
		if p.get(t, "time_blocked_full_queue_10", &blocked) && len(blocked.Rows) > 0 {
			w := blocked.Rows[0] // a later stream overwrites an earlier one there
			for _, q := range queue(peerSet(tr, true, launches.MatchString), Options{QueueLimit: 10}) {
				if float64(q.Stream) == num(w[1]) && us(q.WaitAtLimit) != num(w[2]) {
					t.Errorf("stream %v: %g µs at the limit, the peer has %v", w[1], us(q.WaitAtLimit), w[2])
				}
			}
		}
	})
}

func TestMemoryBandwidthLikePeer(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peerResult, tr *trace.Trace) {
		var want table
		if !p.get(t, "memory_bw_summary", &want) {
			t.Skip("the peer did not finish")
		}
		got := map[string]Stats{}
		touching := map[string]bool{}
		for _, k := range copyStats(peerSet(tr, true, anyLaunch), Options{}).Kinds {
			got[k.Kind] = k.Bandwidth
			for i := 1; i < len(k.series); i++ {
				touching[k.Kind] = touching[k.Kind] || k.series[i].ts == k.series[i-1].ts
			}
		}
		for _, w := range want.Rows {
			s := got[w[1].(string)]
			if touching[w[1].(string)] {
				t.Logf("%v: copies follow each other without a gap; the peer adds before it subtracts: %v against %+v", w[1], w, s)
				continue
			}
			for i, v := range []float64{float64(s.Count), s.Mean, s.Std, s.Min, s.P25, s.P50, s.P75, s.Max} {
				if !same(v, num(w[2+i]), 6) {
					t.Errorf("%v %s: %g, the peer has %v", w[1], want.Columns[2+i], v, w[2+i])
				}
			}
		}
	})
}

// peerRoots are the slices that the peer takes: those of the smallest depth among the matching ones with operations
// below, where the backward thread hangs below the annotations that are open on the forward thread.
func peerRoots(s *Set, name string) []bool {
	roots := make([]bool, len(s.Host))
	launches := make([]bool, len(s.Host))
	for i := range s.Host {
		if s.Host[i].Kind.Call() && len(s.launched(s.Host[i].Event)) > 0 {
			for p := s.Host[i].Parent; p >= 0; p = s.Host[p].Parent {
				launches[p] = true
			}
		}
	}
	depth := func(i int) int32 {
		h := &s.Host[i]
		d := h.Depth
		root := i
		for s.Host[root].Parent >= 0 {
			root = int(s.Host[root].Parent)
		}
		if !strings.HasPrefix(s.Trace.Str(s.Host[root].Name), "autograd::") {
			return d
		}
		for k := range s.Host {
			if a := &s.Host[k]; s.Trace.Events[a.Event].Track != s.Trace.Events[h.Event].Track && a.Kind == trace.Annotation && a.Start <= s.Host[root].Start && a.End >= s.Host[root].End {
				d++
			}
		}
		return d
	}
	best := int32(-1)
	all := map[int]int32{}
	for i := range s.Host {
		if launches[i] && strings.Contains(s.Trace.Str(s.Host[i].Name), name) {
			all[i] = depth(i)
			if best < 0 || all[i] < best {
				best = all[i]
			}
		}
	}
	for i, d := range all {
		roots[i] = d == best
	}
	return roots
}

func TestSequencesLikePeer(t *testing.T) {
	corpus.Files(t)
	for _, name := range []string{"aten::linear", "aten::add", "aten::copy_"} {
		t.Run(name, func(t *testing.T) {
			eachPeer(t, func(t *testing.T, p *peerResult, tr *trace.Trace) {
				var want table
				if !p.get(t, "frequent_cuda_kernel_sequences["+name+"]", &want) {
					t.Skip("the peer did not finish")
				}
				s := peerSet(tr, true, anyLaunch)
				got := s.sequencesBelow(peerRoots(s, name), Options{Top: -1})
				if len(got) != len(want.Rows) {
					t.Errorf("%d sequences, the peer has %d", len(got), len(want.Rows))
				}
				for i, w := range want.Rows {
					if i >= len(got) {
						break
					}
					g := got[i]
					if pat := strings.Join(append([]string{g.Operator}, g.Kernels...), "|"); pat != w[0] || float64(g.Count) != num(w[1]) || us(g.GPU) != num(w[2]) || us(g.CPU) != num(w[3]) {
						t.Errorf("row %d: %.80s %d %g %g, the peer has %.80v %v %v %v", i, pat, g.Count, us(g.GPU), us(g.CPU), w[0], w[1], w[2], w[3])
					}
				}
			})
		})
	}
}

// kernelLaunch are the launches that the peer looks at here.
var kernelLaunch = regexp.MustCompile(`^(cudaLaunchKernel(ExC)?|runFunction - job_prep_and_submit_for_execution)$`)

// onOtherThread reports whether a slice of that name encloses a launch of another thread.
func onOtherThread(s *Set, name string) bool {
	for i := range s.Host {
		h := &s.Host[i]
		if s.Trace.Str(h.Name) != name {
			continue
		}
		for _, id := range s.ofLaunch {
			op := &s.Ops[id]
			l := s.hostOf(op.Launch)
			if h.Start <= op.LaunchStart && op.LaunchEnd <= h.End && l != nil && s.Trace.Events[l.Event].Track != s.Trace.Events[h.Event].Track {
				return true
			}
		}
	}
	return false
}

func (s *Set) hostOf(e trace.EventID) *Host {
	for i := range s.Host {
		if s.Host[i].Event == e {
			return &s.Host[i]
		}
	}
	return nil
}

func TestOperatorsLikePeer(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peerResult, tr *trace.Trace) {
		var tables map[string]table
		if !p.get(t, "aten_op_kernels_and_delay", &tables) {
			t.Skip("the peer did not finish")
		}
		got := map[string]Operator{}
		set := peerSet(tr, false, kernelLaunch.MatchString)
		for _, o := range operators(set, Options{Top: -1}) {
			got[o.Operator+"|"+strings.Join(o.Kernels, "|")] = o
		}
		compared, bad := 0, 0
		for _, want := range tables {
			for _, w := range want.Rows {
				o, ok := got[w[1].(string)+"|"+strings.ReplaceAll(w[2].(string), " -> ", "|")]
				compared++
				if !ok && onOtherThread(set, w[1].(string)) {
					t.Logf("%v: the peer takes an operator of another thread that is open at the time", w[1])
					continue
				}
				if !ok || float64(o.Count) != num(w[3]) || !same(o.LaunchDelay/1000, num(w[4]), 3) || !same(o.KernelDelay/1000, num(w[5]), 3) {
					if bad++; bad < 6 {
						t.Errorf("%.200v: found %v count %d delays %g %g", w, ok, o.Count, o.LaunchDelay/1000, o.KernelDelay/1000)
					}
				}
			}
		}
		t.Logf("%d rows, %d differ", compared, bad)
	})
}

func TestKernelsLikePeer(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peerResult, tr *trace.Trace) {
		var tables []table
		if !p.get(t, "gpu_kernel_breakdown_mem_1000", &tables) {
			t.Skip("the peer did not finish")
		}
		got := map[string]Stats{}
		for _, g := range kernels(peerSet(tr, true, anyLaunch), Options{Top: -1}) {
			for _, n := range g.Names {
				got[strings.ToUpper(g.Type)+n.Name] = n.Stats
			}
		}
		bad := 0
		for _, w := range tables[1].Rows {
			s := got[w[6].(string)+w[0].(string)]
			if !same(s.Sum/1000, num(w[1]), 3) || !same(s.Max/1000, num(w[2]), 3) || !same(s.Min/1000, num(w[3]), 3) || !same(s.Std/1000, num(w[4]), 6) || !same(s.Mean/1000, num(w[5]), 6) {
				if bad++; bad < 6 {
					t.Errorf("%.200v: %+v", w, s)
				}
			}
		}
		t.Logf("%d names, %d differ", len(tables[1].Rows), bad)
	})
}

func TestAnnotationsLikePeer(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peerResult, tr *trace.Trace) {
		var cpu []sample
		for _, r := range hta.Rows(tr, false) {
			if e := &tr.Events[r.Event]; e.Kind == trace.Annotation {
				cpu = append(cpu, sample{e.Name, r.Dur, 0})
			}
		}
		var want table
		if !p.get(t, "cpu_user_annotation_breakdown", &want) {
			t.Skip("the peer did not finish")
		}
		got := map[string]Stats{}
		for _, g := range groups(tr, cpu, false) {
			got[g.Name] = g.Stats
		}
		for _, w := range want.Rows {
			s := got[w[0].(string)]
			for i, v := range []float64{s.Sum, s.Max, s.Min, s.Std, s.Mean} {
				if !same(v/1000, num(w[1+i]), 6) {
					t.Errorf("%v %s: %g, the peer has %v", w[0], want.Columns[1+i], v/1000, w[1+i])
				}
			}
		}
	})
}
