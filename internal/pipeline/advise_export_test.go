package pipeline

// ManyEvents lets runs of n events and more make one thing after the other, until back is called.
func ManyEvents(n int) (back func()) {
	was := manyEvents
	manyEvents = n
	return func() { manyEvents = was }
}
