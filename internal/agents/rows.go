package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"overlay/internal/limits"
	"overlay/internal/sqlquery"
)

// rowsAnswer is the first rows of a query, as an agent gets them.
type rowsAnswer struct {
	Rows    []json.RawMessage `json:"rows"`
	More    int64             `json:"more"`               // rows that are not shown
	AtLeast bool              `json:"at_least,omitempty"` // nobody counted all of them
	Schema  string            `json:"schema,omitempty"`   // of the tables, where that was asked for
}

// Output schemas of tools.
var (
	rowsSchema = &jsonschema.Schema{Type: "object", Required: []string{"rows", "more"}, Properties: map[string]*jsonschema.Schema{
		"rows":     {Types: []string{"array", "null"}, Items: &jsonschema.Schema{Type: "object"}, Description: "objects by column; whole numbers beyond 2^53 are texts, since many readers would round them"},
		"more":     {Type: "integer", Description: "rows that are not shown"},
		"at_least": {Type: "boolean", Description: "there may be still more"},
		"schema":   {Type: "string", Description: "the tables, where that was asked for"},
	}}
	checkSchema = &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{
		"schema": {Type: "string", Description: "form of the answer: overlay-check/1 of a trace"},
		"text":   {Type: "string", Description: "instead, the beginning of an answer that is too long"},
	}}
)

// AnswerRows writes the first rows of a query and counts the others, up to a bound: an answer without end has a beginning, too.
func AnswerRows(ctx context.Context, db *sqlquery.DB, sql string, w io.Writer, most int) error {
	e := &agentRows{most: most}
	e.encoder = sqlquery.NewEncoder("jsonl", &e.row, nil)
	err := db.Query(ctx, sql, e)
	if e.full && (errors.Is(err, errCounted) || ctx.Err() != nil) {
		e.atLeast, err = true, nil
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `{"rows": [%s], "more": %d, "at_least": %t}`, bytes.Join(e.rows, []byte(",\n")), e.more, e.atLeast)
	return err
}

// agentRows keeps the first rows of a result, within the bounds of an answer.
type agentRows struct {
	most    int
	encoder sqlquery.Encoder // into row
	row     bytes.Buffer
	size    int
	full    bool

	rows    [][]byte
	more    int64
	atLeast bool
}

// errCounted ends a query of which enough is known.
var errCounted = errors.New("counted")

func (e *agentRows) Begin(names []string) error {
	return e.encoder.Begin(names)
}

func (e *agentRows) Row(row []sqlquery.Value) error {
	e.full = e.full || len(e.rows) == e.most
	if !e.full {
		for i, v := range row {
			const exact = 1 << 53 // whole numbers up to here are the same as float64
			switch v := v.(type) {
			case int64:
				if v > exact || v < -exact {
					row[i] = strconv.FormatInt(v, 10)
				}
			case string:
				if most := limits.AgentBytes / 4; len(v) > most {
					row[i] = fmt.Sprintf("%s (%d bytes)", shortened(v, most), len(v))
				}
			}
		}
		e.row.Reset()
		if err := e.encoder.Row(row); err != nil {
			return err
		}
		line := bytes.Clone(bytes.TrimSpace(e.row.Bytes()))
		if e.full = e.size+len(line) > limits.AgentBytes; !e.full {
			e.size += len(line)
			e.rows = append(e.rows, line)
			return nil
		}
	}
	if e.more++; e.more >= limits.AgentCounted {
		return errCounted
	}
	return nil
}

func (e *agentRows) End() error { return nil }
