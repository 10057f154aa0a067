package cdg

// rule is a way to find what activities waited for. What each of them is worth stands in lab/amendments.tsv.
type rule struct {
	name string
	find func(*builder)
}

// aloneRules read nothing that others find, and run beside them.
var aloneRules = []rule{
	{"full queues", (*builder).queueFull},
	{"polled memory", (*builder).polledWaits},
}

// waitRules are applied in this order, each after those whose results it reads; the delays of waits between streams are
// measured between the two halves.
var waitRules = [2][]rule{{
	{"recorded waits", (*builder).exactEventWaits},
	{"device marks", (*builder).deviceWaits},
	{"graphs", (*builder).graphOrder},
	{"waits without records", (*builder).inferEventWaits},
}, {
	{"lost launches", (*builder).assumeLaunches},
	{"unrecorded work", (*builder).unrecordedWork},
	{"blocking calls", (*builder).blockingCalls},
	{"copies", (*builder).copyWaits},
	{"copies without calls", (*builder).orphanCopies},
}}

// threadRules say who ended the waits of threads.
const (
	turnsRule   = "threads that take turns"
	repeatsRule = "ends that repeat"
	poolsRule   = "pools of threads"
)

// apply applies rules in order.
func (b *builder) apply(rules []rule) {
	for _, r := range rules {
		if b.uses(r.name) {
			r.find(b)
		}
	}
}

// uses reports whether a rule is applied: tests leave one out to see what it is worth.
func (b *builder) uses(rule string) bool { return b.o.leaveOut != rule }
