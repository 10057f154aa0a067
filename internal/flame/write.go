package flame

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"overlay/internal/pgzip"
)

// Form is a format for flame graphs.
type Form struct {
	Ends  string // how names of its files end
	Shown string // what shows it
	Write func(x *Graph, w io.Writer) error
}

// Forms are the formats, the one of a longer ending first.
var Forms = []Form{
	{".pb.gz", "pprof", (*Graph).WritePprof},
	{".json", "speedscope", (*Graph).WriteSpeedscope},
	{".txt", "flamegraph.pl, inferno: a stack a line", (*Graph).WriteFolded},
}

// FormOf is the format that the name of a file asks for, nil where it asks for none.
func FormOf(name string) *Form {
	for i := range Forms {
		if strings.HasSuffix(name, Forms[i].Ends) {
			return &Forms[i]
		}
	}
	return nil
}

// WriteFolded writes a line for each stack: frames from the outermost to the innermost with semicolons between, and ns. A difference has two
// numbers, as flamegraph.pl and inferno take it.
func (x *Graph) WriteFolded(w io.Writer) error {
	b := bufio.NewWriter(w)
	clean := strings.NewReplacer(";", ":", "\n", " ", "\r", " ")
	x.Stacks(func(stack []int32, before, ns int64) {
		for i, f := range stack {
			if i > 0 {
				b.WriteByte(';')
			}
			clean.WriteString(b, x.frames[f])
		}
		if x.before != nil {
			b.WriteString(" " + strconv.FormatInt(before, 10))
		}
		b.WriteString(" " + strconv.FormatInt(ns, 10) + "\n")
	})
	return b.Flush()
}

// WriteSpeedscope writes speedscope's format (file-format-schema.json), stacks as samples with ns as weights. Of a difference it has the sides as
// two profiles.
func (x *Graph) WriteSpeedscope(w io.Writer) error {
	type frame struct {
		Name string `json:"name"`
	}
	type profile struct {
		Type       string    `json:"type"`
		Name       string    `json:"name"`
		Unit       string    `json:"unit"`
		StartValue int64     `json:"startValue"`
		EndValue   int64     `json:"endValue"`
		Samples    [][]int32 `json:"samples"`
		Weights    []int64   `json:"weights"`
	}
	list := []profile{{Name: "critical path"}}
	if x.before != nil {
		list = []profile{{Name: "critical path before"}, {Name: "critical path after"}}
	}
	for i := range list {
		p := &list[i]
		p.Type, p.Unit, p.Samples, p.Weights = "sampled", "nanoseconds", [][]int32{}, []int64{}
		x.Stacks(func(stack []int32, before, ns int64) {
			if i == 0 && x.before != nil {
				ns = before
			}
			if ns > 0 {
				p.Samples, p.Weights, p.EndValue = append(p.Samples, append([]int32(nil), stack...)), append(p.Weights, ns), p.EndValue+ns
			}
		})
	}
	frames := make([]frame, len(x.frames))
	for i, name := range x.frames {
		frames[i].Name = name
	}
	return json.NewEncoder(w).Encode(map[string]any{
		"$schema": "https://www.speedscope.app/file-format-schema.json", "exporter": "overlay", "name": "critical path",
		"shared": map[string]any{"frames": frames}, "profiles": list,
	})
}

// Field numbers of pprof's profile.proto.
const (
	profileSampleType, profileSample, profileLocation, profileFunction, profileStrings, profileDuration = 1, 2, 4, 5, 6, 10

	typeKind, typeUnit           = 1, 2
	sampleLocations, sampleValue = 1, 2
	sampleLabel                  = 3
	labelKey, labelText          = 1, 2
	locationID, locationLine     = 1, 4
	lineFunction                 = 1
	functionID, functionName     = 1, 2
)

// message is the bytes of a protobuf message.
type message []byte

func (m message) number(field protowire.Number, v uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

func (m message) bytes(field protowire.Number, b []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), b)
}

// WritePprof writes pprof's format (profile.proto) through gzip: a function and a location for each frame, ns of the path as the value. Of a
// difference the times before are below 0 and marked as those of a base, as pprof -diff_base does it.
func (x *Graph) WritePprof(w io.Writer) error {
	var p, one message
	p = p.bytes(profileSampleType, message(nil).number(typeKind, 1).number(typeUnit, 2))
	total := int64(0)
	names := append([]string{"", "critical_path", "nanoseconds", "pprof::base", "true"}, x.frames...)
	x.Stacks(func(stack []int32, before, ns int64) {
		one = one[:0]
		for i := len(stack) - 1; i >= 0; i-- { // the innermost first
			one = one.number(sampleLocations, uint64(stack[i])+1)
		}
		if ns > 0 {
			p = p.bytes(profileSample, one.number(sampleValue, uint64(ns)))
		}
		if before > 0 {
			p = p.bytes(profileSample, one.number(sampleValue, uint64(-before)).bytes(sampleLabel, message(nil).number(labelKey, 3).number(labelText, 4)))
		}
		total += ns
	})
	for i := range x.frames {
		id := uint64(i) + 1
		p = p.bytes(profileLocation, message(nil).number(locationID, id).bytes(locationLine, message(nil).number(lineFunction, id)))
		p = p.bytes(profileFunction, message(nil).number(functionID, id).number(functionName, uint64(len(names)-len(x.frames)+i)))
	}
	for _, s := range names {
		p = p.bytes(profileStrings, []byte(s))
	}
	p = p.number(profileDuration, uint64(total))
	z, err := pgzip.NewWriter(w, 6)
	if err != nil {
		return err
	}
	if _, err := io.Copy(z, bytes.NewReader(p)); err != nil {
		return err
	}
	return z.Close()
}
