package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"overlay/internal/perfetto"
)

// hostile is text that a terminal would obey, that turns the direction of writing, that is not seen, or that is broken.
const hostile = "\x1b]0;owned\x07\x1b[31m\r\b\x7f\u0085\u009b2J\u202ertl\u2066\u200b\ufeff\u2028\u3164\U000e0041\xff\xc3"

// hostileTrace has that text everywhere a trace has text.
func hostileTrace(t *testing.T) []byte {
	h := strings.ToValidUTF8(hostile, "")
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(string(b[1:]), `"`)
	}(h) + "\xff"
	const events = `{"deviceProperties":[{"id":0,"name":"H"}],"distributedInfo":{"backend":"H","rank":0,"world_size":2},"H":"H","traceName":"H","traceEvents":[
{"ph":"M","name":"process_name","pid":1,"tid":0,"ts":0,"args":{"name":"procH"}},
{"ph":"M","name":"process_labels","pid":1,"tid":0,"ts":0,"args":{"labels":"H"}},
{"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":0,"args":{"name":"threadH"}},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1H","pid":1,"tid":1,"ts":1,"dur":300},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":1,"ts":301,"dur":300},
{"ph":"X","cat":"cpu_op","name":"aten::opH","pid":1,"tid":1,"ts":10,"dur":50,"args":{"External id":1,"H":"H","Input Dims":[["H"]]}},
{"ph":"X","cat":"H","name":"H","pid":1,"tid":"H","ts":70,"dur":20},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernelH","pid":1,"tid":1,"ts":20,"dur":10,"args":{"correlation":5,"External id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronizeH","pid":1,"tid":1,"ts":100,"dur":150,"args":{"correlation":6}},
{"ph":"X","cat":"kernel","name":"kernelH","pid":0,"tid":7,"ts":40,"dur":200,"args":{"correlation":5,"device":0,"stream":7,"External id":1}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_H","pid":0,"tid":7,"ts":310,"dur":100,"args":{"correlation":7,"device":0,"stream":7,"Collective name":"H","Process Group Name":"H"}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy H","pid":0,"tid":7,"ts":420,"dur":10,"args":{"device":0,"stream":7,"bytes":12}},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":15,"s":"t","args":{"Device Type":"H","Device Id":0,"Total Allocated":5,"Total Reserved":6}},
{"ph":"\u009b","cat":"x","name":"H","pid":1,"tid":1,"ts":15},
{"ph":"C","cat":"x","name":"H","pid":1,"ts":15,"args":{"H":1}}
]}`
	return []byte(strings.ReplaceAll(events, "H", quoted))
}

// obeyed finds what no terminal should be sent.
func obeyed(out []byte) string {
	for i := 0; i < len(out); {
		r, n := utf8.DecodeRune(out[i:])
		if r == utf8.RuneError && n == 1 || r != '\n' && (!unicode.IsGraphic(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)) {
			return fmt.Sprintf("%U in %q", r, out[max(0, i-40):min(len(out), i+40)])
		}
		i += n
	}
	return ""
}

// TestHostileText sends a trace and file names full of such text through every command, and looks at what is printed.
func TestHostileText(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "n"+strings.ReplaceAll(hostile, "/", "")+".json")
	if err := os.WriteFile(name, hostileTrace(t), 0o666); err != nil {
		t.Skip(err) // a file system that does not take every name
	}
	bad, empty, missing := name+"bad.json", name+"empty", name+"missing"
	os.WriteFile(bad, []byte(`{"traceEvents":[]`+hostile), 0o666)
	os.WriteFile(empty, nil, 0o666)
	var slices bytes.Buffer
	describe := func(b *perfetto.Body, _ int32) {
		b.Name(hostile)
		b.Category(hostile)
	}
	tr := &perfetto.Trace{Attrs: []perfetto.Attr{{Key: hostile, Str: hostile, IsStr: true}},
		Tracks: []perfetto.Track{{Kind: perfetto.Process, Parent: -1, Name: hostile, PID: 42, Items: []perfetto.Item{{Start: 5, Dur: 9}},
			Fill: func() func(b *perfetto.Body, ref int32) { return describe }}}}
	if _, err := perfetto.Write(&slices, tr); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(name+".pftrace", slices.Bytes(), 0o666)
	slim := filepath.Join(dir, hostile+"slim.json")

	printed := 0
	for _, c := range []struct {
		status int
		args   []string
	}{
		{0, []string{"check", name}}, {0, []string{"check", name, "--json"}}, {1, []string{"check", name, "--strict"}},
		{0, []string{"check", name + ".pftrace"}}, {0, []string{"check", name + ".pftrace", "--json"}},
		{0, []string{"run", "-i", name}}, {0, []string{"run", "-i", name, "-o", name + "x.json"}},
		{0, []string{"run", "-i", name, "-o", name + "x.json", "--method", "ctda", "--segments"}},
		{0, []string{"run", "-i", name, "-o", slim, "--only-critical", "--report", slim + ".html"}},
		{0, []string{"run", "-i", slim, "-o", slim + "x.pftrace.gz", "--analysis", "all"}},
		{0, []string{"convert", "-i", name, "-o", name + "c.pftrace"}},
		{0, []string{"report", "-i", name, "--analysis", "all", "--segments"}}, {0, []string{"report", "-i", name, "--analysis", "all", "--segments", "--json"}},
		{0, []string{"report", "-i", name, "--method", "ctda", "--segments"}}, {1, []string{"report", "-i", name, "--method", "hta", "--segments"}},
		{0, []string{"report", "-i", name, "--annotation", "Step#1" + strings.ToValidUTF8(hostile, "")}},
		{1, []string{"report", "-i", name, "--annotation", hostile}},
		{0, []string{"diff", name, slim}}, {0, []string{"diff", name, slim, "--json"}}, {3, []string{"diff", slim, name, "--fail-if-slower", "0"}},
		{1, []string{"check", bad}}, {1, []string{"run", "-i", bad}}, {1, []string{"open", empty}}, {1, []string{"report", "-i", empty}},
		{1, []string{"open", missing}}, {1, []string{"check", missing}}, {1, []string{"report", "-i", missing}}, {1, []string{"check", dir + "/" + hostile + "/x"}},
		{1, []string{"convert", "-i", name, "-o", missing + "/x.json"}}, {2, []string{"convert", "-i", name, "-o", name}}, {2, []string{"convert", "-i", name, "-o", hostile}},
		{2, []string{hostile}}, {2, []string{"./" + hostile}}, {2, []string{"-" + hostile}}, {2, []string{"run", "--" + hostile}}, {1, []string{"run", hostile}},
		{1, []string{"check", "a", hostile}}, {2, []string{"run", "-i", name, "--method", hostile}}, {2, []string{"run", "-i", name, "--jobs", hostile}},
		{2, []string{"run", "-i", name, "--max-expand", hostile}}, {2, []string{"run", "-i", name, "--report", hostile}}, {2, []string{"help", hostile}},
	} {
		var stdout, stderr bytes.Buffer
		status := run(append([]string{"overlay"}, c.args...), strings.NewReader(""), &stdout, &stderr)
		if status != c.status && c.args[0] != "diff" {
			t.Errorf("%q: status %d, want %d: %s", c.args, status, c.status, report200(stderr.Bytes()))
		}
		for what, out := range map[string][]byte{"standard output": stdout.Bytes(), "standard error": stderr.Bytes()} {
			if found := obeyed(out); found != "" {
				t.Errorf("%.80q prints to %s: %s", c.args, what, found)
			}
			if bytes.Contains(out, []byte("owned")) {
				printed++
			}
		}
		if strings.Contains(strings.Join(c.args, " "), "--json") && !json.Valid(stdout.Bytes()) {
			t.Errorf("%.80q prints no JSON", c.args)
		}
	}
	if printed < 35 {
		t.Errorf("only %d outputs hold the text at all", printed)
	}
}

func report200(b []byte) string { return strings.ToValidUTF8(string(b[:min(len(b), 200)]), "?") }
