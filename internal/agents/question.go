package agents

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// wide is a whole number that may be beyond 2^53, as times since 1970 in ns are. Many readers of JSON would round such a number, so
// that it may also come as a text of digits; it is never read by way of a float64.
type wide int64

func (w *wide) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(string(bytes.Trim(b, `"`)), 10, 64)
	*w = wide(n)
	return err
}

// stepName is a step as users name it: a number, or a text (decode#7, decode).
type stepName string

func (s *stepName) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(s))
	}
	n, err := strconv.ParseInt(string(b), 10, 32)
	*s = stepName(strconv.FormatInt(n, 10))
	return err
}

// schemaOf is the schema of a question or an answer.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[wide](): {Types: []string{"integer", "string"}}, reflect.TypeFor[stepName](): {Types: []string{"integer", "string"}}}})
	if err != nil {
		panic("overlay: internal error: " + err.Error())
	}
	return s
}

// shortened is the beginning of a text that is longer than n bytes.
func shortened(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
