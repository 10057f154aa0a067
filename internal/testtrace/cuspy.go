package testtrace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// CuspyOptions say what a rewritten trace leaves out or adds. The zero value is what Cuspy writes without a resolver of
// lanes.
type CuspyOptions struct {
	NoKinds bool // copies and memsets do not say which kinds of memory they are between
	Lanes   bool // operations of CUDA graphs are drawn on lanes that stand for several streams each
}

// Cuspy rewrites a trace of Kineto as PyTorch's Cuspy backend would have written it: names of copies and memsets, what
// cuda_sync records leave open, rows and ids of graph operations, and launch flows of graphs. The trace must be valid
// JSON; positions of events stay, and so do the bytes of what Cuspy writes as Kineto does.
func Cuspy(src []byte, o CuspyOptions) ([]byte, error) {
	c := &cuspy{o: o, events: map[int]*cuspyEvent{}, operations: map[string]int{}, root: map[string]bool{}}
	from, to, err := c.read(src)
	if err != nil {
		return nil, err
	}
	out := append(append([]byte(nil), src[:from]...), '[')
	for i := range c.list {
		if err := c.rewrite(i); err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, '\n'), c.list[i]...)
	}
	return append(append(out, "\n]"...), src[to:]...), nil
}

// read reads the events of a trace of either form, once, since real ones are large, and says where their list stands.
func (c *cuspy) read(src []byte) (from, to int, err error) {
	dec := json.NewDecoder(bytes.NewReader(src))
	for {
		tok, err := dec.Token()
		if err != nil {
			return 0, 0, fmt.Errorf("no traceEvents: %w", err)
		}
		switch tok {
		case json.Delim('{'):
			continue
		case json.Delim('['): // the list is all there is
		case "traceEvents":
			if _, err := dec.Token(); err != nil {
				return 0, 0, err
			}
		default:
			var other json.RawMessage
			if err := dec.Decode(&other); err != nil {
				return 0, 0, err
			}
			continue
		}
		from = int(dec.InputOffset()) - 1
		for dec.More() {
			var raw json.RawMessage
			if err := dec.Decode(&raw); err != nil {
				return 0, 0, err
			}
			c.add(raw)
		}
		_, err = dec.Token()
		return from, int(dec.InputOffset()), err
	}
}

type cuspy struct {
	o          CuspyOptions
	list       []json.RawMessage
	events     map[int]*cuspyEvent // those of the list that Cuspy may write otherwise
	operations map[string]int      // by correlation; where there are several, a graph was launched
	root       map[string]bool     // correlations whose root has been seen
}

// cuspyEvent is what is read of an event.
type cuspyEvent struct {
	Ph   string                     `json:"ph"`
	Cat  string                     `json:"cat"`
	Name string                     `json:"name"`
	ID   json.RawMessage            `json:"id"`
	Args map[string]json.RawMessage `json:"args"`
}

func isOperation(cat string) bool {
	switch strings.ToLower(cat) {
	case "kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset":
		return true
	}
	return false
}

// mayDiffer spares most events the reading: frames, ops and calls are written alike.
func mayDiffer(raw []byte) bool {
	for _, category := range [...]string{`"kernel"`, `"Kernel"`, `"gpu_mem`, `"Mem`, `"cuda_sync"`, `"ac2g"`} {
		if bytes.Contains(raw, []byte(category)) {
			return true
		}
	}
	return false
}

// add takes an element of the list, and reads it if it may differ and is an event.
func (c *cuspy) add(raw json.RawMessage) {
	var e cuspyEvent
	if mayDiffer(raw) && json.Unmarshal(raw, &e) == nil {
		c.events[len(c.list)] = &e
		if e.Ph == "X" && isOperation(e.Cat) && e.Args["correlation"] != nil {
			c.operations[string(e.Args["correlation"])]++
		}
	}
	c.list = append(c.list, raw)
}

// rewrite changes one event, if Cuspy writes it otherwise.
func (c *cuspy) rewrite(i int) error {
	e := c.events[i]
	if e == nil {
		return nil
	}
	corr := string(e.Args["correlation"])
	graph := e.Ph == "X" && isOperation(e.Cat) && corr != "" && c.operations[corr] > 1
	args := map[string]any{}
	event := map[string]any{}
	var drop []string
	switch {
	case e.Ph == "f" && e.Cat == "ac2g" && c.operations[string(e.ID)] > 1:
		// Of a graph, only its root is the end of a launch flow. What is left of the others is no flow.
		if !c.root[string(e.ID)] {
			c.root[string(e.ID)] = true
			return nil
		}
		c.list[i] = json.RawMessage(`{"ph": "M", "name": "no_flow"}`)
		return nil
	case e.Cat == "cuda_sync" && e.Args["wait_on_stream"] != nil:
		args["wait_on_stream"] = -1
	case e.Ph == "X" && strings.HasPrefix(e.Name, "Memcpy ") && isOperation(e.Cat):
		event["name"] = "Memcpy"
		drop = []string{"memory bandwidth (GB/s)"}
		if kinds := strings.FieldsFunc(e.Name, func(r rune) bool { return r == '(' || r == ')' }); len(kinds) == 2 && !c.o.NoKinds {
			from, to, _ := strings.Cut(kinds[1], " -> ")
			args["copy kind"] = strings.TrimSpace(strings.TrimPrefix(kinds[0], "Memcpy "))
			args["src kind"], args["dst kind"] = cuspyMemory(from), cuspyMemory(to)
		}
	case e.Ph == "X" && strings.HasPrefix(e.Name, "Memset (") && isOperation(e.Cat):
		event["name"] = "Memset"
		drop = []string{"memory bandwidth (GB/s)"}
		if kinds := [...]string{"Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"}; !c.o.NoKinds {
			for n, kind := range kinds {
				if e.Name == "Memset ("+kind+")" {
					args["memory kind"] = n
				}
			}
		}
	}
	if graph {
		args["graph id"], args["graph node id"] = 1, i+1
		var stream int64
		if c.o.Lanes && json.Unmarshal(e.Args["stream"], &stream) == nil && stream >= 0 {
			lane := 900_000 + stream/16%2 // neighbouring streams share a lane
			event["tid"] = lane
			args["stream"], args["original_stream"] = lane, stream
		}
	}
	if len(event) == 0 && len(args) == 0 {
		return nil
	}
	return c.replace(i, event, args, drop)
}

// cuspyMemory is Cuspy's word for a kind of memory.
func cuspyMemory(kineto string) string {
	kineto = strings.ReplaceAll(kineto, "Pagable", "Pageable")
	return strings.ReplaceAll(strings.ToLower(kineto), " ", "_")
}

// replace puts new members into an event and its args.
func (c *cuspy) replace(i int, event, args map[string]any, drop []string) error {
	var all, old map[string]json.RawMessage
	if err := json.Unmarshal(c.list[i], &all); err != nil {
		return err
	}
	if all["args"] != nil {
		if err := json.Unmarshal(all["args"], &old); err != nil {
			return err
		}
	}
	if old == nil {
		old = map[string]json.RawMessage{}
	}
	for _, key := range drop {
		delete(old, key)
	}
	set := func(m map[string]json.RawMessage, key string, v any) (err error) {
		m[key], err = json.Marshal(v)
		return err
	}
	for key, v := range args {
		if err := set(old, key, v); err != nil {
			return err
		}
	}
	for key, v := range event {
		if err := set(all, key, v); err != nil {
			return err
		}
	}
	if err := set(all, "args", old); err != nil {
		return err
	}
	text, err := json.Marshal(all)
	c.list[i] = text
	return err
}
