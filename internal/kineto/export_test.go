package kineto

// InChunks has events read in pieces of so many bytes.
func InChunks(n int) Options { return Options{chunk: n} }
