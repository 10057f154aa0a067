package cdg

// rule is a way to find what activities waited for: a value in a file of its own. What each is worth stands in
// lab/amendments.tsv, and of a rule that no recorded trace at hand needs the documented behaviour that it stands on.
type rule struct {
	name string
	find func(*builder)
}

// aloneRules read nothing that others find, and run beside them.
var aloneRules = []rule{fullQueuesRule, polledRule}

// waitRules are applied in this order, each after those whose results it reads; the delays of waits between streams are
// measured between the two halves.
var waitRules = [2][]rule{
	{recordedWaitsRule, deviceMarksRule, graphsRule, eventWaitsRule},
	{lostLaunchesRule, unrecordedRule, blockingRule, copiesRule, lostCopiesRule},
}

// apply applies rules in order.
func (b *builder) apply(rules ...rule) {
	for _, r := range rules {
		if b.uses(r) {
			r.find(b)
		}
	}
}

// uses reports whether a rule is applied: tests leave one out to see what it is worth.
func (b *builder) uses(r rule) bool { return b.o.leaveOut != r.name }
