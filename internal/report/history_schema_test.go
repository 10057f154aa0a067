package report_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"overlay/internal/history"
	"overlay/internal/testtrace/reported"
)

// TestHistorySchemaFiles: the schemas of histories in docs say what the types say.
func TestHistorySchemaFiles(t *testing.T) {
	for _, c := range []struct {
		name, about string
		of          reflect.Type
	}{
		{"history", "The answer of overlay history: what changed with which run.", reflect.TypeFor[history.Document]()},
		{"gate", "The answer of overlay gate: a run beside those before it.", reflect.TypeFor[history.VerdictDocument]()},
	} {
		s := schemaOf(c.of)
		s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
		s["title"] = history.Schema
		s["description"] = c.about + " Times are integers in ns, start_ns since 1970; false_alarm_share is how probable it is that noise looks so."
		s["properties"].(map[string]any)["schema"] = map[string]any{"const": history.Schema}
		b, err := json.MarshalIndent(s, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		reported.Golden(t, "../../docs/reference/"+c.name+".schema.json", append(b, '\n'), *update)
	}
}
