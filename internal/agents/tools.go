package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"overlay/internal/limits"
	"overlay/internal/tables"
)

// Serve offers the tools to one agent until it hangs up.
func (a *Agents) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return a.server().Run(ctx, transport(in, out))
}

func (a *Agents) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "overlay", Version: a.Version}, &mcp.ServerOptions{
		Instructions: "overlay explains what bounds a PyTorch run, from a profiler trace. list_traces says which there are. Start with report; it gives the critical path by class, with evidence. " +
			"Times are nanoseconds on the trace's clock; events are numbered by their position in traceEvents. Say that something is unknown where the answer says unexplained, untraced or inferred.",
	})
	addTool(s, "list_traces", "Which traces, archives, databases and folders of ranks there are, with their sizes. Any name in the answer is a file for the other tools.", schemaOf[traceList](), a.listTraces)
	addTool(s, "check", "What a trace holds: events, steps, devices, what was repaired, and what the analysis will miss.", checkSchema,
		func(ctx context.Context, q *fileQuestion) (*answer, error) {
			return a.data(ctx, []*string{&q.File}, func() []string { return []string{"check", "--json", "--", q.File} })
		})
	addTool(s, "report", "What bounds the run: time on the critical path by class and by name, steps, evidence, and with analyses why the GPU idled, how launches queued and more. Text.", nil,
		func(ctx context.Context, q *reportQuestion) (*answer, error) {
			return a.text(ctx, []*string{&q.File}, q.arguments)
		})
	addTool(s, "hotspots", "What takes most time of the critical path, by name, kind and training phase. JSON lines.", rowsSchema,
		func(ctx context.Context, q *hotspotsQuestion) (*answer, error) {
			return a.rows(ctx, limits.AgentList, &q.File, q.window(), q.sql())
		})
	addTool(s, "advise", "What would make the run shorter: causes that rules found, with evidence, what to change, and the gain, which is a replay of the run without the cause; of a folder of ranks what they wait for. Text.", nil,
		func(ctx context.Context, q *adviseQuestion) (*answer, error) {
			return a.text(ctx, []*string{&q.File}, func() []string { return append([]string{"advise", "--input=" + q.File}, q.window()...) })
		})
	addTool(s, "whatif", "Replays the run with something changed: how long the window would have taken, and what would have bound it then. Text.", nil,
		func(ctx context.Context, q *whatifQuestion) (*answer, error) {
			if len(q.Scenarios) > limits.AgentScenarios {
				return nil, fmt.Errorf("%d scenarios are given: ask for %d at a time", len(q.Scenarios), limits.AgentScenarios)
			}
			return a.text(ctx, []*string{&q.File}, q.arguments)
		})
	addTool(s, "diff", "Two traces of the same work side by side: how much longer the window takes, by class and by name. Of one trace, why a step was slow: two of its steps. Text.", nil,
		func(ctx context.Context, q *diffQuestion) (*answer, error) {
			files := []*string{&q.Before, &q.After}
			if q.After == "" {
				files = files[:1]
			}
			return a.text(ctx, files, q.arguments)
		})
	addTool(s, "query", "SQL (SQLite's) over the trace: tables runs, events, segments, edges, nodes, steps, collectives, tracks, counters, spans. Ask with an empty sql for the schema. JSON lines: the first "+
		strconv.Itoa(limits.AgentRows)+" rows, and how many more there are; limit and offset give others.", rowsSchema,
		func(ctx context.Context, q *queryQuestion) (*answer, error) {
			if strings.TrimSpace(q.SQL) == "" {
				data, err := json.Marshal(rowsAnswer{Schema: a.Schema})
				return &answer{a.Schema, data}, err
			}
			return a.rows(ctx, limits.AgentRows, &q.File, nil, q.SQL)
		})
	addTool(s, "event", "One event by its position in traceEvents: its row, times, arguments, and what it waited for.", rowsSchema,
		func(ctx context.Context, q *eventQuestion) (*answer, error) {
			n := strconv.FormatInt(int64(q.Event), 10)
			return a.rows(ctx, limits.AgentList, &q.File, []string{"--args"}, "select 'event' as what, event, ts_ns, dur_ns, name, kind, critical_ns, args, null as rule, null as evidence from events where event = "+n+
				" union all select 'waited for', e.event, e.ts_ns, e.dur_ns, e.name, e.kind, e.critical_ns, null, w.rule, w.evidence from edges w join events e on e.event = w.from_event where w.to_event = "+n)
		})
	addTool(s, "path_between", "The critical path between two times, segment by segment, with the evidence of each.", rowsSchema,
		func(ctx context.Context, q *betweenQuestion) (*answer, error) {
			return a.rows(ctx, limits.AgentList, &q.File, nil, fmt.Sprintf("select critical_id, ts_ns, dur_ns, class, kind, evidence, event, name from segments where ts_ns < %d and ts_ns + dur_ns > %d order by ts_ns", q.To, q.From))
		})
	return s
}

// addTool offers a tool. What is wrong with a question is the answer of the tool, so that the agent sees it.
func addTool[Q any](s *mcp.Server, name, about string, output *jsonschema.Schema, reply func(context.Context, *Q) (*answer, error)) {
	closed := false
	t := &mcp.Tool{Name: name, Description: about, InputSchema: schemaOf[Q](), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}}
	if output != nil { // else the library would send null
		t.OutputSchema = output
	}
	mcp.AddTool(s, t, func(ctx context.Context, call *mcp.CallToolRequest, q Q) (*mcp.CallToolResult, any, error) {
		// The library has checked the arguments, and read whole numbers by way of a float64.
		if err := json.Unmarshal(call.Params.Arguments, &q); len(call.Params.Arguments) > 0 && err != nil {
			return nil, nil, err
		}
		said, err := reply(ctx, &q)
		if err != nil {
			return nil, nil, errors.New(shortened(err.Error(), 2000))
		}
		result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said.text}}}
		if said.data != nil {
			result.StructuredContent = said.data
		}
		return result, nil, nil
	})
}

// text answers with what a command prints.
func (a *Agents) text(ctx context.Context, files []*string, command func() []string) (*answer, error) {
	if err := a.check(ctx, files...); err != nil {
		return nil, err
	}
	out, err := a.Run(ctx, limits.AgentBytes, 0, command()...)
	if err != nil {
		return nil, err
	}
	return &answer{text: out.text()}, nil
}

// data answers with the JSON that a command prints. One that is too long is cut, and then a text only.
func (a *Agents) data(ctx context.Context, files []*string, command func() []string) (*answer, error) {
	said, err := a.text(ctx, files, command)
	if err == nil && json.Valid([]byte(said.text)) {
		said.data = json.RawMessage(said.text)
	} else if err == nil {
		said.data, err = json.Marshal(map[string]string{"text": said.text})
	}
	return said, err
}

// rows answers with the first rows of a query.
func (a *Agents) rows(ctx context.Context, most int, file *string, flags []string, sql string) (*answer, error) {
	if err := a.check(ctx, file); err != nil {
		return nil, err
	}
	out, err := a.Run(ctx, 4*limits.AgentBytes, most, slices.Concat([]string{"query"}, flags, []string{"--", sql, *file})...)
	if err != nil {
		return nil, err
	}
	var r rowsAnswer
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return nil, fmt.Errorf("internal error: the answer is no JSON: %w", err)
	}
	var b strings.Builder
	for _, row := range r.Rows {
		b.Write(append(row, '\n'))
	}
	if r.More > 0 {
		least := ""
		if r.AtLeast {
			least = "at least "
		}
		fmt.Fprintf(&b, "… %s%s: ask for less, or for others with limit and offset\n", least, tables.Counted(int(r.More), "more row"))
	}
	return &answer{b.String(), out.Bytes()}, nil
}

type fileQuestion struct {
	File string `json:"file" jsonschema:"path of the trace"`
}

type stepQuestion struct {
	Step stepName `json:"step,omitempty" jsonschema:"analyse only this step: its number, as printed (decode#7), or a type of iterations of a server (decode: the one of median length)"`
}

func (q *stepQuestion) window() []string {
	if q.Step == "" {
		return nil
	}
	return []string{"--step=" + string(q.Step)}
}

type windowQuestion struct {
	stepQuestion
	Method string `json:"method,omitempty" jsonschema:"exact (default), ctda or hta"`
}

func (q *windowQuestion) window() []string {
	flags := q.stepQuestion.window()
	if q.Method != "" {
		flags = append(flags, "--method="+q.Method)
	}
	return flags
}

type reportQuestion struct {
	File string `json:"file" jsonschema:"path of the trace"`
	windowQuestion
	Analyses string `json:"analyses,omitempty" jsonschema:"further analyses by name, separated by commas, or all: temporal, timeline, idle, overlap, queue, copies, launch, sequences, operators, component, kernels, roofline, annotations, blocking"`
	Top      int32  `json:"top,omitempty" jsonschema:"how many hotspots, default 10"`
}

func (q *reportQuestion) arguments() []string {
	args := append([]string{"report", "--input=" + q.File}, q.window()...)
	if q.Analyses != "" {
		args = append(args, "--analysis="+q.Analyses)
	}
	if q.Top > 0 {
		args = append(args, "--top="+strconv.Itoa(int(q.Top)))
	}
	return args
}

type hotspotsQuestion struct {
	File string `json:"file" jsonschema:"path of the trace"`
	windowQuestion
	Top int32 `json:"top,omitempty" jsonschema:"how many, default 20"`
}

func (q *hotspotsQuestion) sql() string {
	n := q.Top
	if n <= 0 {
		n = 20
	}
	return "select name, kind, phase, count(*) as events, sum(critical_ns) as critical_ns, " +
		"round(100.0 * sum(critical_ns) / (select window_ns from runs), 1) as percent_of_window from events where critical_ns > 0 " +
		"group by name, kind, phase order by sum(critical_ns) desc, name limit " + strconv.Itoa(int(n))
}

type adviseQuestion struct {
	File string `json:"file" jsonschema:"path of the trace"`
	stepQuestion
}

type whatifQuestion struct {
	File string `json:"file" jsonschema:"path of the trace"`
	stepQuestion
	Scenarios []string `json:"scenarios,omitempty" jsonschema:"scenarios, each one or more changes with ; between them and maybe a name before := in front: scale SELECTOR=FACTOR, set SELECTOR=TIME, shrink SELECTOR=TIME, remove SELECTOR, no-wait SELECTOR, drop SELECTOR [for SELECTOR], replace SELECTOR=TIME, unlimited-queue. SELECTOR is a name as in the report (* stands for anything) or class:compute|comm|copy|cpu|runtime|python|launch|sync, phase:NAME, stream:N, thread:ID, step:N or step:TYPE (step:decode), annotation:NAME, under:NAME; 'A in B' means both. As in: fast copies := scale aten::copy_=0.5; no-wait *Synchronize"`
	Best      int32    `json:"best,omitempty" jsonschema:"also each of the first N hotspots at half its time and at none"`
}

func (q *whatifQuestion) arguments() []string {
	args := append([]string{"whatif", "--input=" + q.File}, q.window()...)
	for _, s := range q.Scenarios {
		args = append(args, "--scenario="+s)
	}
	if q.Best > 0 {
		args = append(args, "--best="+strconv.Itoa(int(min(q.Best, limits.AgentScenarios))))
	}
	return args
}

type diffQuestion struct {
	Before  string   `json:"before" jsonschema:"path of the trace before"`
	After   string   `json:"after,omitempty" jsonschema:"path of the trace after; without it two steps of the one trace are compared, step with against"`
	Against stepName `json:"against,omitempty" jsonschema:"of one trace: the step to compare with; without step and against the longest step and the median of the others"`
	windowQuestion
}

func (q *diffQuestion) arguments() []string {
	args := append([]string{"diff"}, q.window()...)
	if q.Against != "" {
		args = append(args, "--against="+string(q.Against))
	}
	if args = append(args, "--", q.Before); q.After != "" {
		args = append(args, q.After)
	}
	return args
}

type queryQuestion struct {
	File string `json:"file" jsonschema:"path of the trace"`
	SQL  string `json:"sql" jsonschema:"one select; empty for the schema"`
}

type eventQuestion struct {
	File  string `json:"file" jsonschema:"path of the trace"`
	Event wide   `json:"event" jsonschema:"position in traceEvents, from 0"`
}

type betweenQuestion struct {
	File string `json:"file" jsonschema:"path of the trace"`
	From wide   `json:"from_ns" jsonschema:"start of the interval, ns on the trace's clock; beyond 2^53 better as a text of digits"`
	To   wide   `json:"to_ns" jsonschema:"its end"`
}
