package critpath

// List unpacks the marks.
func (ms *Marks) List() []Mark {
	out := make([]Mark, 0, ms.Len())
	for _, m := range ms.All() {
		out = append(out, m)
	}
	return out
}
