package cdg

// Disable switches a row of the dependency table off.
func (o *Options) Disable(r Rule) { o.disabled |= 1 << r }

// SmallRanges cuts events and activities into ranges of size until the returned function is called.
func SmallRanges(size int) (back func()) {
	before := rangeSize
	rangeSize = size
	return func() { rangeSize = before }
}
