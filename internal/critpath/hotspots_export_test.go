package critpath

// SmallHotMarks makes processors sum up no more than n marks in one go, until back is called.
func SmallHotMarks(n int) (back func()) {
	was := hotMarks
	hotMarks = n
	return func() { hotMarks = was }
}
