package overlay

// Slice returns slice i.
func (t *Track) Slice(i int) Slice {
	if t.Maker == nil {
		return t.Slices[i]
	}
	var s Slice
	s.Start, s.Dur = t.Maker.Span(i)
	s.Name, s.Color = t.Maker.Look(i)
	var args [MaxArgs]Arg
	n := t.Maker.Args(i, &args)
	s.Args = args[:n:n]
	return s
}
