package cdg

// LeaveOut leaves a rule out.
func (o *Options) LeaveOut(rule string) { o.leaveOut = rule }

// RuleNames are the names of all rules.
func RuleNames() (names []string) {
	for _, rules := range [][]rule{aloneRules, waitRules[0], waitRules[1]} {
		for _, r := range rules {
			names = append(names, r.name)
		}
	}
	return append(names, turnsRule, repeatsRule, poolsRule)
}

// Disable switches a row of the dependency table off.
func (o *Options) Disable(r Rule) { o.disabled |= 1 << r }

// SmallRanges cuts events and activities into ranges of size until the returned function is called.
func SmallRanges(size int) (back func()) {
	before := rangeSize
	rangeSize = size
	return func() { rangeSize = before }
}
