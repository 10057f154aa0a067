package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"overlay/internal/nearest"
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

// readQuestion reads the arguments of a call. A name that is none of the tool's is an error that names the right one.
func readQuestion(arguments json.RawMessage, schema *jsonschema.Schema, q any) error {
	var given map[string]json.RawMessage
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &given); err != nil {
			return fmt.Errorf("the arguments are no JSON object: %w", err)
		}
	}
	takes := fmt.Sprintf("the arguments are %s, of which %s has to be there", strings.Join(schema.PropertyOrder, ", "), strings.Join(schema.Required, " and "))
	if len(schema.Required) == 0 {
		takes = "the arguments are " + strings.Join(schema.PropertyOrder, ", ") + ", none of which has to be there"
	}
	missing := slices.DeleteFunc(slices.Clone(schema.Required), func(name string) bool { return given[name] != nil })
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if schema.Properties[name] != nil {
			continue
		}
		meant := nearest.Name(shortened(name, 100), schema.PropertyOrder)
		if meant == "" && len(missing) > 0 {
			meant = missing[0]
		}
		if meant != "" {
			meant = " (is " + strconv.Quote(meant) + " meant?)"
		}
		return fmt.Errorf("no argument %s%s: %s", strconv.Quote(shortened(name, 100)), meant, takes)
	}
	if len(missing) > 0 {
		return fmt.Errorf("argument %s is missing: %s", strconv.Quote(missing[0]), takes)
	}
	return readFields(given, schema, reflect.ValueOf(q).Elem())
}

func readFields(given map[string]json.RawMessage, schema *jsonschema.Schema, to reflect.Value) error {
	for i := range to.NumField() {
		f := to.Type().Field(i)
		if f.Anonymous {
			if err := readFields(given, schema, to.Field(i)); err != nil {
				return err
			}
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		value, ok := given[name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, to.Field(i).Addr().Interface()); err != nil {
			form := "a text"
			switch kind := f.Type.String(); {
			case strings.HasPrefix(kind, "[]"):
				form = "a list of texts"
			case kind == "agents.stepName":
				form = "a whole number or a name such as decode#7"
			case kind == "agents.wide":
				form = "a whole number of 64 bits"
			case strings.HasSuffix(kind, "int32"):
				form = "a whole number of 32 bits"
			}
			return fmt.Errorf("argument %s is %s, and is to be %s", strconv.Quote(name), shortened(string(value), 60), form)
		}
	}
	return nil
}

// shortened is the beginning of a text that is longer than n bytes.
func shortened(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
