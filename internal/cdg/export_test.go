package cdg

// Disable switches a row of the dependency table off.
func (o *Options) Disable(r Rule) { o.disabled |= 1 << r }
