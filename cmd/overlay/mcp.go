package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/urfave/cli/v2"
)

func (p *program) mcpCommand() *cli.Command {
	takes := groups{{[]cli.Flag{
		&cli.GenericFlag{Name: "root", Value: &fileNames{}, TakesFile: true, Category: filesGroup, Usage: "let agents read traces below `DIR` only; may be repeated (required)"}}, readRoots}, generalFlags()}
	return &cli.Command{Name: "mcp", Usage: "answer agents over standard input and output (Model Context Protocol)", ArgsUsage: "--root DIR [flags]", Flags: takes.flags(),
		Description: `
Offers what the other commands print as tools of the Model Context Protocol: check, report, hotspots, advise, whatif,
diff, query, event, path_between. Files outside of the given folders are refused, nothing is written, long answers are
cut and say so.

Examples:
  overlay mcp --root traces
  claude mcp add overlay -- overlay mcp --root "$PWD"`,
		Action: p.action(takes, 0, nil, (*job).serveAgents)}
}

// readRoots reads the folders that agents may read.
func readRoots(r *flagReader, o *options) {
	for _, root := range r.paths("root") {
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			r.problem("--root %s is no folder", quote(root))
		}
		o.roots = append(o.roots, root)
	}
	if len(o.roots) == 0 {
		r.problem("no --root: name the folder whose traces agents may read")
	}
}

// answerLimit is how many bytes of an answer an agent gets: more would fill its memory with one look.
const answerLimit = 40_000

// agents answers tools by running commands of the program, one after the other: each may take as much memory as a trace.
type agents struct {
	roots []string // absolute, without links
	mu    sync.Mutex
}

// serveAgents talks to one agent until it hangs up.
func (j *job) serveAgents() error {
	a := &agents{}
	for _, root := range j.opts.roots {
		real, err := filepath.EvalSymlinks(root)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err != nil {
			return inputError(root, err)
		}
		a.roots = append(a.roots, real)
	}
	return a.server().Run(context.Background(), &mcp.IOTransport{Reader: io.NopCloser(j.stdin), Writer: openWriter{j.stdout}})
}

// openWriter is a writer that stays open: standard output.
type openWriter struct{ io.Writer }

func (openWriter) Close() error { return nil }

// server offers the tools.
func (a *agents) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "overlay", Version: version}, &mcp.ServerOptions{
		Instructions: "overlay explains what bounds a PyTorch run, from a profiler trace. Start with report; it gives the critical path by class, with evidence. " +
			"Times are nanoseconds on the trace's clock; events are numbered by their position in traceEvents. Say that something is unknown where the answer says unexplained, untraced or inferred.",
	})
	addTool(s, a, "check", "What a trace holds: events, steps, devices, what was repaired, and what the analysis will miss.",
		func(q *fileQuestion) []string { return []string{"check", "--json", "--", q.File} }, (*fileQuestion).files)
	addTool(s, a, "report", "What bounds the run: time on the critical path by class and by name, steps, evidence, and with analyses why the GPU idled, how launches queued and more. Text.",
		(*reportQuestion).arguments, func(q *reportQuestion) []*string { return []*string{&q.File} })
	addTool(s, a, "hotspots", "What takes most time of the critical path, by name, kind and training phase. JSON lines.",
		(*hotspotsQuestion).arguments, func(q *hotspotsQuestion) []*string { return []*string{&q.File} })
	addTool(s, a, "advise", "What would make the run shorter: causes that rules found, with evidence, what to change, and the gain, which is a replay of the run without the cause; of a folder of ranks what they wait for. Text.",
		func(q *adviseQuestion) []string { return append(q.window(), "advise", "--input="+q.File) }, func(q *adviseQuestion) []*string { return []*string{&q.File} })
	addTool(s, a, "whatif", "Replays the run with something changed: how long the window would have taken, and what would have bound it then. Text.",
		(*whatifQuestion).arguments, func(q *whatifQuestion) []*string { return []*string{&q.File} })
	addTool(s, a, "diff", "Two traces of the same work side by side: how much longer the window takes, by class and by name. Of one trace, why a step was slow: two of its steps. Text.",
		(*diffQuestion).arguments, (*diffQuestion).files)
	addTool(s, a, "query", "SQL (SQLite's) over the trace: tables runs, events, segments, edges, nodes, steps, collectives, tracks, counters, spans. Ask with an empty sql for the schema. JSON lines.",
		func(q *queryQuestion) []string {
			if strings.TrimSpace(q.SQL) == "" {
				return []string{"query", "--schema"}
			}
			return []string{"query", "--format", "jsonl", "--", q.SQL, q.File}
		}, func(q *queryQuestion) []*string { return []*string{&q.File} })
	addTool(s, a, "event", "One event by its position in traceEvents: its row, times, arguments, and what it waited for.",
		func(q *eventQuestion) []string {
			n := strconv.FormatInt(q.Event, 10)
			return []string{"query", "--args", "--format", "jsonl", "--", "select 'event' as what, event, ts_ns, dur_ns, name, kind, critical_ns, args, null as rule, null as evidence from events where event = " + n +
				" union all select 'waited for', e.event, e.ts_ns, e.dur_ns, e.name, e.kind, e.critical_ns, null, w.rule, w.evidence from edges w join events e on e.event = w.from_event where w.to_event = " + n, q.File}
		}, func(q *eventQuestion) []*string { return []*string{&q.File} })
	addTool(s, a, "path_between", "The critical path between two times, segment by segment, with the evidence of each.",
		func(q *betweenQuestion) []string {
			return []string{"query", "--format", "jsonl", "--", fmt.Sprintf("select critical_id, ts_ns, dur_ns, class, kind, evidence, event, name from segments where ts_ns < %d and ts_ns + dur_ns > %d order by ts_ns", q.To, q.From), q.File}
		}, func(q *betweenQuestion) []*string { return []*string{&q.File} })
	return s
}

type fileQuestion struct {
	File string `json:"file" jsonschema:"path of the trace"`
}

func (q *fileQuestion) files() []*string { return []*string{&q.File} }

type stepQuestion struct {
	Step *int `json:"step,omitempty" jsonschema:"analyse only the step of this number"`
}

// window gives the flags of a question. They stand before the command's name, which run moves to the front.
func (q *stepQuestion) window() []string {
	if q.Step == nil {
		return nil
	}
	return []string{"--step=" + strconv.Itoa(*q.Step)}
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
	Top      int    `json:"top,omitempty" jsonschema:"how many hotspots, default 10"`
}

func (q *reportQuestion) arguments() []string {
	args := append(q.window(), "report", "--input="+q.File)
	if q.Analyses != "" {
		args = append(args, "--analysis="+q.Analyses)
	}
	if q.Top > 0 {
		args = append(args, "--top="+strconv.Itoa(q.Top))
	}
	return args
}

type hotspotsQuestion struct {
	File string `json:"file" jsonschema:"path of the trace"`
	windowQuestion
	Top int `json:"top,omitempty" jsonschema:"how many, default 20"`
}

// mostHotspots is how many names an answer may hold.
const mostHotspots = 200

func (q *hotspotsQuestion) arguments() []string {
	n := min(q.Top, mostHotspots)
	if n <= 0 {
		n = 20
	}
	return append(q.window(), "query", "--format=jsonl", "--", "select name, kind, phase, count(*) as events, sum(critical_ns) as critical_ns, "+
		"round(100.0 * sum(critical_ns) / (select window_ns from runs), 1) as percent_of_window from events where critical_ns > 0 "+
		"group by name, kind, phase order by sum(critical_ns) desc, name limit "+strconv.Itoa(n), q.File)
}

type adviseQuestion struct {
	File string `json:"file" jsonschema:"path of the trace"`
	stepQuestion
}

type whatifQuestion struct {
	File string `json:"file" jsonschema:"path of the trace"`
	stepQuestion
	Scenarios []string `json:"scenarios,omitempty" jsonschema:"scenarios, each one or more changes with ; between them and maybe a name before := in front: scale SELECTOR=FACTOR, set SELECTOR=TIME, shrink SELECTOR=TIME, remove SELECTOR, no-wait SELECTOR, drop SELECTOR [for SELECTOR], replace SELECTOR=TIME, unlimited-queue. SELECTOR is a name as in the report (* stands for anything) or class:compute|comm|copy|cpu|runtime|python|launch|sync, phase:NAME, stream:N, thread:ID, step:N, annotation:NAME, under:NAME; 'A in B' means both. As in: fast copies := scale aten::copy_=0.5; no-wait *Synchronize"`
	Best      int      `json:"best,omitempty" jsonschema:"also each of the first N hotspots at half its time and at none"`
}

func (q *whatifQuestion) arguments() []string {
	args := append(q.window(), "whatif", "--input="+q.File)
	for _, s := range q.Scenarios {
		args = append(args, "--scenario="+s)
	}
	if q.Best > 0 {
		args = append(args, "--best="+strconv.Itoa(q.Best))
	}
	return args
}

type diffQuestion struct {
	Before  string `json:"before" jsonschema:"path of the trace before"`
	After   string `json:"after,omitempty" jsonschema:"path of the trace after; without it two steps of the one trace are compared, step with against"`
	Against *int   `json:"against,omitempty" jsonschema:"of one trace: number of the step to compare with; without step and against the longest step and the median of the others"`
	windowQuestion
}

func (q *diffQuestion) arguments() []string {
	args := append(q.window(), "diff")
	if q.Against != nil {
		args = append(args, "--against="+strconv.Itoa(*q.Against))
	}
	if args = append(args, "--", q.Before); q.After != "" {
		args = append(args, q.After)
	}
	return args
}

func (q *diffQuestion) files() []*string {
	if q.After == "" {
		return []*string{&q.Before}
	}
	return []*string{&q.Before, &q.After}
}

type queryQuestion struct {
	File string `json:"file" jsonschema:"path of the trace"`
	SQL  string `json:"sql" jsonschema:"one select; empty for the schema"`
}

type eventQuestion struct {
	File  string `json:"file" jsonschema:"path of the trace"`
	Event int64  `json:"event" jsonschema:"position in traceEvents, from 0"`
}

type betweenQuestion struct {
	File string `json:"file" jsonschema:"path of the trace"`
	From int64  `json:"from_ns" jsonschema:"start of the interval, ns on the trace's clock"`
	To   int64  `json:"to_ns" jsonschema:"its end"`
}

// addTool offers a command as a tool: command makes its arguments of a question, whose files are checked before.
func addTool[Q any](s *mcp.Server, a *agents, name, about string, command func(*Q) []string, files func(*Q) []*string) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: about, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(ctx context.Context, _ *mcp.CallToolRequest, q Q) (*mcp.CallToolResult, any, error) {
			for _, file := range files(&q) {
				real, err := a.allowed(*file)
				if err != nil {
					return nil, nil, err
				}
				*file = real
			}
			text, err := a.run(ctx, command(&q))
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
		})
}

// allowed is the real path of a file that lies below a root, wherever links lead.
func (a *agents) allowed(name string) (string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(a.roots[0], name)
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", inputError(name, err)
	}
	for _, root := range a.roots {
		if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
			return real, nil
		}
	}
	return "", fmt.Errorf("%s is outside of %s", quote(name), strings.Join(a.roots, ", "))
}

// run runs a command of this program as a process of its own: the memory that a trace takes is free again afterwards, and
// an agent that loses patience ends it. The command's flags may stand before its name. A failure is what it says on
// standard error.
func (a *agents) run(ctx context.Context, args []string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(args, func(s string) bool { return !strings.HasPrefix(s, "-") })
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = slices.Concat([]string{"overlay", args[at]}, args[:at], []string{"--no-color"}, args[at+1:])
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(problem.String()); text != "" {
			err = errors.New(text)
		}
		return "", err
	}
	return capped(out.Bytes()), nil
}

// capped cuts an answer that is too long at a line, and says so.
func capped(b []byte) string {
	if len(b) <= answerLimit {
		return string(b)
	}
	cut := b[:answerLimit]
	if i := bytes.LastIndexByte(cut, '\n'); i > 0 {
		cut = cut[:i+1]
	}
	for len(cut) > 0 && !utf8.Valid(cut) {
		cut = cut[:len(cut)-1]
	}
	return fmt.Sprintf("%s… cut: %d of %d bytes are shown; ask for less, with limit, top or a step\n", cut, len(cut), len(b))
}
