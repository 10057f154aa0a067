package overlay

// Slice returns slice i.
func (t *Track) Slice(i int) Slice {
	if t.Maker == nil {
		return t.Slices[i]
	}
	var s Slice
	s.Start, s.Dur = t.Maker.Span(i)
	s.Name, s.Color = t.Maker.Look(i)
	args, n := t.Maker.Args(i)
	s.Args = args[:n:n]
	return s
}
