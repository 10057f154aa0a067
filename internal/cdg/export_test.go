package cdg

import "slices"

// LeaveOut leaves a rule out.
func (o *Options) LeaveOut(rule string) { o.leaveOut = rule }

// threadRules say who ended the waits of threads, each where threads are looked at for it.
var threadRules = []rule{turnsRule, resultsRule, poolsRule, hostCollectivesRule, locksRule}

// RuleNames are the names of all rules.
func RuleNames() (names []string) {
	for _, r := range slices.Concat(aloneRules, waitRules[0], waitRules[1], threadRules) {
		names = append(names, r.name)
	}
	return names
}

// Disable switches a row of the dependency table off.
func (o *Options) Disable(r Rule) { o.disabled |= 1 << r }

// SmallRanges cuts events and activities into ranges of size until the returned function is called.
func SmallRanges(size int) (back func()) {
	before := rangeSize
	rangeSize = size
	return func() { rangeSize = before }
}
