package report

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"overlay/internal/analyses"
)

func analysisNames() []string { return analyses.Names }

// field is one value of an entry, in the order of the JSON.
type field struct {
	key   string
	value any
}

// tableOf turns a list of objects into a table. Nested objects give a column a value, as "outer inner"; lists are joined.
func tableOf(name string, list json.RawMessage) section {
	s := section{Name: name}
	column := map[string]int{}
	var entries []json.RawMessage
	if json.Unmarshal(list, &entries) != nil {
		return s
	}
	for _, e := range entries[:min(len(entries), maxRows)] {
		row := make([]string, len(s.Columns))
		for _, f := range flatten("", e) {
			i, ok := column[f.key]
			if !ok {
				i = len(s.Columns)
				column[f.key] = i
				s.Columns, row = append(s.Columns, f.key), append(row, "")
			}
			row[i] = cell(f.key, f.value)
		}
		s.Rows = append(s.Rows, row)
	}
	for i := range s.Rows {
		for len(s.Rows[i]) < len(s.Columns) {
			s.Rows[i] = append(s.Rows[i], "")
		}
	}
	return s
}

// flatten lists the values of an object in their order.
func flatten(prefix string, raw json.RawMessage) []field {
	var out []field
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return out
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return out
		}
		name := prefix + strings.ReplaceAll(key.(string), "_", " ")
		switch v[0] {
		case '{':
			out = append(out, flatten(name+" ", v)...)
		case '[':
			out = append(out, field{name, joined(v)})
		default:
			var x any
			e := json.NewDecoder(bytes.NewReader(v))
			e.UseNumber()
			if e.Decode(&x) == nil {
				out = append(out, field{name, x})
			}
		}
	}
	return out
}

// joined writes a list of names, or how many entries there are.
func joined(raw json.RawMessage) string {
	var names []string
	if json.Unmarshal(raw, &names) == nil {
		for i := range names {
			names[i] = Readable(names[i])
		}
		return strings.Join(names, " → ")
	}
	var entries []json.RawMessage
	if json.Unmarshal(raw, &entries) != nil || len(entries) == 0 {
		return ""
	}
	var parts []string
	for _, e := range entries[:min(len(entries), 4)] {
		var words []string
		for _, f := range flatten("", e) {
			if c := cell(f.key, f.value); c != "" && len(words) < 3 {
				words = append(words, c)
			}
		}
		parts = append(parts, strings.Join(words, " "))
	}
	return strings.Join(parts, ", ")
}

func cell(key string, v any) string {
	switch x := v.(type) {
	case json.Number:
		if n, err := x.Int64(); err == nil {
			if key == "ns" || strings.HasSuffix(key, " ns") {
				return MS(n)
			}
			return group(n)
		}
		f, err := x.Float64()
		if err != nil {
			return x.String()
		}
		if strings.Contains(key, "share") || strings.Contains(key, "ratio") {
			return Percent(f)
		}
		return strconv.FormatFloat(f, 'g', 5, 64)
	case string:
		return Readable(x)
	case bool:
		if x {
			return "yes"
		}
	}
	return ""
}
