package flights_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"overlay/internal/flights"
)

// dumps reads `RANK: GROUP/NUMBER NAME SIZE ms, …; …`: what each rank called in which of the groups, "." for one that the dump does not
// name. A call without a time has not ended, one with "?" has no time. Sends and receives are single.
func dumps(t *testing.T, groups []flights.Group, text string) (list []*flights.Dump) {
	for _, line := range strings.Split(text, ";") {
		rank, calls, _ := strings.Cut(strings.TrimSpace(line), ":")
		n, err := strconv.Atoi(rank)
		if err != nil {
			t.Fatal(err)
		}
		d := &flights.Dump{Rank: int32(n), Groups: groups}
		for _, call := range strings.Split(calls, ",") {
			if call = strings.TrimSpace(call); call == "" {
				continue
			}
			w := strings.Split(call, " ")
			c := flights.Call{Group: -1, Name: strings.ReplaceAll(w[1], "_to_", " "), Duration: -1, Frame: "f" + rank}
			if g, seq, _ := strings.Cut(w[0], "/"); true {
				c.Seq, _ = strconv.ParseInt(seq, 10, 64)
				if n, err := strconv.Atoi(g); err == nil {
					c.Group = int32(n)
				}
			}
			c.Single = strings.HasPrefix(c.Name, "send") || strings.HasPrefix(c.Name, "recv")
			if c.Sizes = w[2]; len(w) > 3 {
				c.Done = true
				if ms, err := strconv.ParseInt(w[3], 10, 64); err == nil {
					c.Duration = ms * 1e6
				}
			}
			d.Calls = append(d.Calls, c)
		}
		list = append(list, d)
	}
	return list
}

// TestStudy: dumps in, lists out.
func TestStudy(t *testing.T) {
	groups := []flights.Group{{Name: "0", Desc: "all", Ranks: []int32{0, 1, 2}}, {Name: "1", Ranks: []int32{0, 1}}, {Name: "2", Desc: "2", Ranks: []int32{1, 2}}}
	for _, c := range []struct{ dumps, want string }{
		// As many as first called it is the most; the others have their first call and its frame.
		{"0: 0/1 all_reduce 8 1; 1: 0/1 broadcast 9 1; 2: 0/1 all_gather 7 1",
			`differ [{"group":"all (0)","sequence":1,"what":"collective","most":"all_reduce of 8","others":[1,2],"call":"broadcast of 9","frame":"f1"}]`},
		{"0: 0/1 all_reduce 8 1; 1: 0/1 all_reduce 9 1; 2: 0/1 broadcast 9 1",
			`differ [{"group":"all (0)","sequence":1,"what":"collective","most":"all_reduce of 8","others":[2],"call":"broadcast of 9","frame":"f2"}]`},
		{"0: 0/1 all_reduce 8 1; 1: 0/1 all_reduce 9 1; 2: 0/1 all_reduce 9 1",
			`differ [{"group":"all (0)","sequence":1,"what":"size","most":"all_reduce of 9","others":[0],"call":"all_reduce of 8","frame":"f0"}] measured 1`},
		{"0: 1/1 all_reduce 8 1; 1: 1/1 all_reduce 9 1, 2/1 all_reduce 8 1; 2: 2/1 all_reduce 7 1",
			`differ [{"group":"1","sequence":1,"what":"size","most":"all_reduce of 8","others":[1],"call":"all_reduce of 9","frame":"f1"},{"group":"2","sequence":1,"what":"size","most":"all_reduce of 8","others":[2],"call":"all_reduce of 7","frame":"f2"}] measured 2`},
		// Calls of a group that no dump has, and singles, are in no group's order.
		{"0: ./1 all_reduce 8 1, 1/1 recv_to_0<-1 8 1, 1/1 all_reduce 8; 1: 1/1 send_to_1->0 8 1, 1/1 all_reduce 8", `wait [{"group":"1","sequence":1,"call":"all_reduce of 8","waiting":[0,1],"missing":[],"unknown":[],"frame":"f0"}] no dump [2]`},
		// Who called a number once is missing in none of its calls; who has called nothing at all is.
		{"0: 1/1 all_reduce 8 1, 1/1 all_reduce 8; 1: 1/1 all_reduce 8 1", `wait [{"group":"1","sequence":1,"call":"all_reduce of 8","waiting":[0],"missing":[],"unknown":[],"frame":"f0"}] measured 1 no dump [2]`},
		{"0: 1/1 all_reduce 8; 1:", `wait [{"group":"1","sequence":1,"call":"all_reduce of 8","waiting":[0],"missing":[1],"unknown":[],"frame":"f0"}] suspects [1] last [{"rank":1,"group":"","sequence":0,"call":"","done":false,"frame":""}] no dump [2]`},
		// Two that wait for each other are both suspects; of their last calls one is in the first group and one in none.
		{"0: 1/1 all_reduce 8, 0/1 barrier 0 ?; 1: 2/1 all_reduce 8, ./4 x 8; 2: 0/1 barrier 0",
			`wait [{"group":"1","sequence":1,"call":"all_reduce of 8","waiting":[0],"missing":[1],"unknown":[],"frame":"f0"},{"group":"2","sequence":1,"call":"all_reduce of 8","waiting":[1],"missing":[2],"unknown":[],"frame":"f1"},{"group":"all (0)","sequence":1,"call":"barrier of 0","waiting":[2],"missing":[1],"unknown":[],"frame":"f2"}] suspects [1,2] last [{"rank":1,"group":"","sequence":4,"call":"x of 8","done":false,"frame":"f1"},{"rank":2,"group":"all","sequence":1,"call":"barrier of 0","done":false,"frame":"f2"}]`},
		// Names that do not say both sides, and sides that are no member.
		{"0: 1/0 send 8; 1: 1/0 send_to_0 8; 2: 0/0 send_to_2->3 8", ""},
		{"0: 1/0 send_to_0->-1 8; 1: ./0 send_to_0->1 8", "no dump [2]"},
		{"0: 1/0 send_to_0->1 8; 1: 1/0 recv_to_1<-0 8 1", `wait [{"group":"1","sequence":0,"call":"send 0->1 of 8","waiting":[0],"missing":[1],"unknown":[],"frame":"f0"}] suspects [1] last [{"rank":1,"group":"1","sequence":0,"call":"recv 1<-0 of 8","done":true,"frame":"f1"}] no dump [2]`},
		{"0: 1/0 send_to_0->1 8; 1: 1/0 recv_to_1<-7 8", `wait [{"group":"1","sequence":0,"call":"send 0->1 of 8","waiting":[0],"missing":[1],"unknown":[],"frame":"f0"}] suspects [1] last [{"rank":1,"group":"1","sequence":0,"call":"recv 1<-7 of 8","done":false,"frame":"f1"}] no dump [2]`},
		{"1: 2/0 recv_to_0<-1 8", `wait [{"group":"2","sequence":0,"call":"recv 0<-1 of 8","waiting":[1],"missing":[],"unknown":[2],"frame":"f1"}] no dump [0,2]`},
		{"1: 2/0 send_to_0->1 8; 2: 2/0 recv_to_1<-0 8", `wait [{"group":"2","sequence":0,"call":"send 0->1 of 8","waiting":[1],"missing":[],"unknown":[],"frame":"f1"},{"group":"2","sequence":0,"call":"recv 1<-0 of 8","waiting":[2],"missing":[],"unknown":[],"frame":"f2"}] no dump [0]`},
		// Times are of collectives in which all wait for all, which ended on all members with times, and are the same.
		{"0: 1/1 barrier 0 5, 1/2 reduce_scatter 8 7, 1/3 broadcast 8 9, 1/4 all_reduce 8 3; 1: 1/1 barrier 0 2, 1/2 reduce_scatter 9 4, 1/3 broadcast 8 1, 1/4 all_reduce 8 0",
			`measured 3 late [{"rank":1,"collectives":3,"of":3,"waits_ns":9000000,"most_ns":3000000,"call":"barrier of 0, 1 of group 1","frame":"f1"}] no dump [2]`},
		{"0: 1/1 all_reduce 8 5, 1/2 all_reduce 8 5, 1/3 all_reduce 8 5; 1: 1/1 all_reduce 8 ?, 1/2 all_reduce 8", `wait [{"group":"1","sequence":2,"call":"all_reduce of 8","waiting":[1],"missing":[],"unknown":[],"frame":"f1"}] no dump [2]`},
	} {
		s, err := flights.Judge(dumps(t, groups, c.dumps))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range []struct {
			name  string
			value any
			some  bool
		}{{"differ", s.Mismatches, len(s.Mismatches) > 0}, {"wait", s.Waits, len(s.Waits) > 0}, {"suspects", s.Suspects, len(s.Suspects) > 0}, {"last", s.Last, len(s.Last) > 0},
			{"measured", s.Measured, s.Measured > 0}, {"late", s.Late, len(s.Late) > 0}, {"no dump", s.NoDump, len(s.NoDump) > 0}} {
			if x.some {
				text, _ := json.Marshal(x.value)
				text = []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(text)))
				got = append(got, fmt.Sprintf("%s %s", x.name, text))
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.dumps, got, c.want)
		}
	}
}
