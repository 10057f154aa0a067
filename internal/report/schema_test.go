package report_test

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"overlay/internal/report"
	"overlay/internal/testtrace/reported"
)

const schemaFile = "../../docs/reference/report.schema.json"

// schemaOf describes a Go type as JSON Schema: fields without omitempty are required, unknown ones are not allowed.
func schemaOf(t reflect.Type) map[string]any {
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		s := schemaOf(t.Elem())
		if s["type"] != "object" {
			s["type"] = []string{s["type"].(string), "null"}
		}
		return s
	case reflect.Struct:
		props, required := map[string]any{}, []string{}
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Anonymous && f.Tag == "" {
				of := schemaOf(f.Type)
				maps.Copy(props, of["properties"].(map[string]any))
				required = append(required, of["required"].([]string)...)
				continue
			}
			name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || name == "" || !f.IsExported() {
				continue
			}
			props[name] = schemaOf(f.Type)
			if opts != "omitempty" {
				required = append(required, name)
			}
		}
		return map[string]any{"type": "object", "properties": props, "required": required, "additionalProperties": false}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	}
	return map[string]any{"type": "integer"}
}

// TestSchemaFile: the schema in docs says what the types say.
func TestSchemaFile(t *testing.T) {
	s := schemaOf(reflect.TypeFor[report.Report]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = report.Schema
	s["description"] = "The JSON report of overlay. Times are integers in ns on the trace's own clock, shares are ratios 0 to 1, events are zero-based positions in traceEvents."
	props := s["properties"].(map[string]any)
	props["schema"] = map[string]any{"const": report.Schema}
	props["method"] = map[string]any{"enum": []string{"exact", "ctda", "hta"}}
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	reported.Golden(t, schemaFile, append(b, '\n'), *update)
}

// TestTablesFile: docs/reference/tables.md lists the tables with their columns and units.
func TestTablesFile(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# The tables of a report\n\nMade by a test from the types of the report (`make update`). Names are those of the JSON report. Times are ns, shares ratios 0 to 1,\n" +
		"a `time` is a moment on the trace's own clock, a `ref` a position in traceEvents, an `id` the number of a device, a stream or a node.\n")
	r := reported.ByMethod(t, "loader", reported.Traces(t)["loader"], true)["exact"]
	list := r.Tables()
	d := report.CompareRuns([]*report.Report{r}, []*report.Report{r})
	for i, t := range append(list, d.Tables()...) {
		title := t.Name
		if i >= len(list) && i > 0 && t.Name != "difference" {
			title = "difference: " + t.Name
		}
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		if t.About != "" {
			fmt.Fprintf(&b, "%s.\n\n", strings.ToUpper(t.About[:1])+t.About[1:])
		}
		b.WriteString("| column | unit | meaning |\n| --- | --- | --- |\n")
		for _, c := range t.Cols {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Name, c.Unit, c.About)
		}
	}
	if len(list) < 40 {
		t.Fatalf("only %d tables", len(list))
	}
	reported.Golden(t, "../../docs/reference/tables.md", b.Bytes(), *update)
}

// TestReportsFollowSchema validates every report against the file, with a validator of its own.
func TestReportsFollowSchema(t *testing.T) {
	raw, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, tr := range reported.Traces(t) {
		for _, segments := range []bool{false, true} {
			for method, r := range reported.ByMethod(t, name, tr, segments) {
				var b bytes.Buffer
				if err := r.WriteJSON(&b); err != nil {
					t.Fatal(err)
				}
				var v any
				d := json.NewDecoder(&b)
				d.UseNumber()
				if err := d.Decode(&v); err != nil {
					t.Fatal(err)
				}
				n++
				for _, e := range follow(schema, v, "") {
					t.Errorf("%s %s: %s", name, method, e)
				}
			}
		}
	}
	if n < 12 {
		t.Errorf("only %d reports", n)
	}
	if follow(schema, map[string]any{"schema": "other"}, "") == nil {
		t.Error("the validator lets everything pass")
	}
}

// follow lists what of a value breaks a schema: type, const, enum, properties, required, additionalProperties, items.
func follow(schema map[string]any, v any, at string) (errs []string) {
	if c, ok := schema["const"]; ok && c != v {
		return []string{fmt.Sprintf("%s is %v, not %v", at, v, c)}
	}
	if e, ok := schema["enum"].([]any); ok && !slices.Contains(e, v) {
		return []string{fmt.Sprintf("%s is %v, none of %v", at, v, e)}
	}
	if want, ok := schema["type"]; ok && !hasType(want, v) {
		return []string{fmt.Sprintf("%s is %T, not %v", at, v, want)}
	}
	switch x := v.(type) {
	case map[string]any:
		props, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, k := range required {
			if _, ok := x[k.(string)]; !ok {
				errs = append(errs, fmt.Sprintf("%s/%s is missing", at, k))
			}
		}
		for k, e := range x {
			s, ok := props[k].(map[string]any)
			if !ok {
				if s, ok = schema["additionalProperties"].(map[string]any); !ok {
					errs = append(errs, fmt.Sprintf("%s/%s is not in the schema", at, k))
					continue
				}
			}
			errs = append(errs, follow(s, e, at+"/"+k)...)
		}
	case []any:
		for i, e := range x {
			errs = append(errs, follow(schema["items"].(map[string]any), e, fmt.Sprintf("%s/%d", at, i))...)
		}
	}
	return errs
}

func hasType(want, v any) bool {
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, func(w any) bool { return hasType(w, v) })
	}
	switch x := v.(type) {
	case nil:
		return want == "null"
	case string:
		return want == "string"
	case bool:
		return want == "boolean"
	case json.Number:
		_, err := x.Int64()
		return want == "number" || want == "integer" && err == nil
	case map[string]any:
		return want == "object"
	case []any:
		return want == "array"
	}
	return false
}
