package anonymize

import "overlay/internal/kineto"

// unquoted is the text of a JSON string. The page's program does without a second reader of JSON.
func unquoted(v []byte) string { return kineto.Unquoted(v) }
