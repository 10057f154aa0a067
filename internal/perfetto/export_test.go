package perfetto

// What tests that read the output back use.
var (
	Same        = same
	WritePieces = writePieces
)

// same describes items with a function that remembers nothing.
func same(fill func(b *Body, ref int32)) func() func(b *Body, ref int32) {
	return func() func(b *Body, ref int32) { return fill }
}
