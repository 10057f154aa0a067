package flame

// Frames are the names of frames, each once.
func (x *Graph) Frames() []string { return x.frames }
