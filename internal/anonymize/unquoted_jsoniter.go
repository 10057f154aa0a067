//go:build !js

package anonymize

import jsoniter "github.com/json-iterator/go"

// unquoted is the text of a JSON string.
func unquoted(v []byte) string { return jsoniter.Get(v).ToString() }
