package kineto

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/trace"
)

// TestDistributed reads what traces say of the job and of collectives, in the forms of PyTorch and of captures on demand.
func TestDistributed(t *testing.T) {
	tr, err := Parse([]byte(`{"host_name":"node-3","PT_PROFILER_JOB_NAME":"llama","PT_PROFILER_JOB_ATTEMPT_INDEX":2,"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":0,"dur":9,"args":{"Collective name":"allreduce","dtype":"Float","In msg nelems":8,
 "Out msg nelems":8,"Group size":2,"Process Group Name":"0","Process Group Description":"default_pg","Process Group Ranks":"[4, 7]","Rank":7,"Seq":12}},
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":10,"dur":9,"args":{"Collective name":"send","Group size":4,"Process Group Name":"2",
 "Process Group Ranks":"[0, 8, ..., 24]","Global rank start":0,"Global rank stride":8,"Dst Rank":3}},
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":20,"dur":9,"args":{"External id":3}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":30,"dur":9}],
"distributedInfo":{"backend":"nccl","rank":"7","world_size":8,"pg_config":[{"pg_name":"0","pg_desc":"default_pg","pg_size":2,"ranks":[4,7]},
 {"pg_name":"1","ranks":"[0, 1, ..., 7]"}]}}`), "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Rank != 7 {
		t.Errorf("rank %d", tr.Rank)
	}
	want := trace.Distributed{World: 8, Host: "node-3", Job: "llama", Attempt: "2", Groups: []trace.ProcessGroup{
		{Name: "0", Desc: "default_pg", Size: 2, Ranks: []int64{4, 7}}, {Name: "1", Size: -1}}}
	if d := cmp.Diff(want, tr.Distributed); d != "" {
		t.Error(d)
	}
	c, ok := tr.Collective(0)
	if d := cmp.Diff(trace.Collective{Name: "allreduce", Dtype: "Float", In: 8, Out: 8, Seq: 12, Rank: 7, Peer: -1,
		Group: trace.ProcessGroup{Name: "0", Desc: "default_pg", Size: 2, Ranks: []int64{4, 7}}}, c); d != "" || !ok {
		t.Error(ok, d)
	}
	c, ok = tr.Collective(1)
	if d := cmp.Diff(trace.Collective{Name: "send", In: -1, Out: -1, Seq: -1, Rank: -1, Peer: 3,
		Group: trace.ProcessGroup{Name: "2", Size: 4, Ranks: []int64{0, 8, 16, 24}}}, c); d != "" || !ok {
		t.Error(ok, d)
	}
	for id := trace.EventID(2); id < 4; id++ {
		if c, ok := tr.Collective(id); ok {
			t.Errorf("event %d: %+v", id, c)
		}
	}
}
