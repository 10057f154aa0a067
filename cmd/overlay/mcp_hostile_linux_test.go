//go:build !quick

package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"overlay/internal/limits"
	"overlay/internal/testtrace/corpus"
)

// agentWire talks to `overlay mcp` in lines, right or wrong ones.
type agentWire struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	last  int
	asked string            // for messages
	early map[string]string // answers that nobody waits for yet
}

func startAgent(t *testing.T, root string) *agentWire {
	t.Helper()
	w := &agentWire{t: t, cmd: exec.Command(programFile(t), "mcp", "--root", root), lines: make(chan string, 100), last: 1000, early: map[string]string{}}
	w.cmd.Stderr = os.Stderr
	out, err := w.cmd.StdoutPipe()
	if err == nil {
		w.in, err = w.cmd.StdinPipe()
	}
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.cmd.Process.Kill(); w.cmd.Wait() })
	go func() {
		defer close(w.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			w.lines <- line
		}
	}()
	w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	w.answer("1", 20*time.Second)
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *agentWire) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatalf("the server is gone: %v", err)
	}
}

// answer waits for the answer to the request of a number, given as JSON.
func (w *agentWire) answer(id string, most time.Duration) string {
	w.t.Helper()
	late := time.After(most)
	for {
		if line, ok := w.early[id]; ok {
			delete(w.early, id)
			return line
		}
		select {
		case line, ok := <-w.lines:
			if !ok {
				w.t.Fatalf("the server ended before it answered %s: %s", id, w.asked)
			}
			var head struct {
				ID json.RawMessage `json:"id"`
			}
			if err := json.Unmarshal([]byte(line), &head); err != nil {
				w.t.Fatalf("an answer is no JSON: %v: %.200s", err, line)
			}
			w.early[string(head.ID)] = line
		case <-late:
			w.t.Fatalf("no answer to %s within %v: %s", id, most, w.asked)
		}
	}
}

// call sends a call and gives its number.
func (w *agentWire) call(tool, arguments string) string {
	w.last++
	id := strconv.Itoa(w.last)
	name, _ := json.Marshal(tool)
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%s,"arguments":%s}}`, id, name, arguments))
	return id
}

// alive asks for a sign of life.
func (w *agentWire) alive() {
	w.t.Helper()
	w.last++
	id := strconv.Itoa(w.last)
	w.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
	w.answer(id, 20*time.Second)
}

// children are the processes that a process started.
func children(pid int) (list []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range tasks {
		text, _ := os.ReadFile(name)
		for _, word := range strings.Fields(string(text)) {
			n, _ := strconv.Atoi(word)
			list = append(list, n)
		}
	}
	return list
}

// held is what a process and its children hold in memory besides the pages of files, bytes.
func held(pid int) (sum int64) {
	for _, pid := range append(children(pid), pid) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if f := strings.Fields(string(text)); len(f) > 2 {
			all, _ := strconv.ParseInt(f[1], 10, 64)
			shared, _ := strconv.ParseInt(f[2], 10, 64)
			sum += (all - shared) * int64(os.Getpagesize())
		}
	}
	return sum
}

// hostileRoot makes a folder for agents, with all ways out of it, and a folder beside it with what they must not see.
func hostileRoot(t *testing.T) (root string) {
	t.Helper()
	demo, err := os.ReadFile(corpus.Demo(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	root = filepath.Join(dir, "root")
	outside := filepath.Join(dir, "outside")
	write := func(name string, b []byte) {
		err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o777)
		if err == nil {
			err = os.Symlink(to, filepath.Join(root, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	secret := []byte(`{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"SECRET","pid":1,"tid":1,"ts":1,"dur":2}]}`)
	write("root/demo.json.gz", demo)
	write("root/two words/demo.json.gz", demo)
	write("root/tables/keep.txt", nil)
	write("outside/secret.json", secret)
	write("outside/job/rank0.json", secret)
	write("outside/job/rank1.json", secret)
	overlayOutput(t, "export", "-i", filepath.Join(outside, "secret.json"), "-o", filepath.Join(outside, "tables"), "--run", "a", "--quiet")
	overlayOutput(t, "export", "-i", filepath.Join(outside, "job"), "-o", filepath.Join(outside, "parts"), "--tables", "summary", "--run", "a", "--quiet")
	link("../outside/secret.json", "link.json")
	link(filepath.Join(outside, "secret.json"), "absolute.json")
	link("../outside/job", "job")
	link("../../outside/secret.json", "ranks/rank0.json")
	link("../../outside/job/rank1.json", "ranks/rank1.json")
	link("../../outside/secret.json", "one/rank0.json")
	link("../../outside/tables/run=a", "linked/run=a")
	link("../../../outside/tables/run=a/rank=0", "linked2/run=a/rank=0")
	link("../../../../outside/tables/run=a/rank=0/events.parquet", "linked3/run=a/rank=0/events.parquet")
	link("../../../../outside/tables/run=a/rank=0/runs.parquet", "linked3/run=a/rank=0/runs.parquet")
	link("../../outside/parts/run=a", "parts/run=a")
	link("../../outside/secret.json", "mixed/rank0.json") // beside one that may be read: it is not to be missing without a word
	write("root/mixed/rank1.json.gz", demo)
	overlayOutput(t, "export", "-i", filepath.Join(root, "demo.json.gz"), "-o", filepath.Join(root, "mixedtables"), "--run", "own", "--quiet")
	link("../../outside/tables/run=a", "mixedtables/run=a")
	overlayOutput(t, "export", "-i", filepath.Join(root, "demo.json.gz"), "-o", filepath.Join(root, "mixedparts"), "--tables", "summary", "--run", "a", "--rank", "5", "--quiet")
	link("../../../outside/parts/run=a/rank=0", "mixedparts/run=a/rank=0")
	link("../outside", "up")
	link("loop.json", "loop.json")
	link("nowhere.json", "broken.json")
	link("/dev/zero", "zero.json")
	link("/proc/self/environ", "environ.json")
	link("/", "all")
	link(filepath.Join(root, "demo.json.gz"), "back.json.gz") // leads back: this one may be read
	if err := syscall.Mkfifo(filepath.Join(root, "pipe.json"), 0o666); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	members := tar.NewWriter(&b)
	members.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "rank0.json", Linkname: filepath.Join(outside, "secret.json")})
	members.WriteHeader(&tar.Header{Typeflag: tar.TypeLink, Name: "rank1.json", Linkname: "../../outside/secret.json"})
	members.Close()
	write("root/links.tar", b.Bytes())
	link("../outside/links.tar", "far.tar")
	write("outside/links.tar", b.Bytes())
	write("root/folder.json/x", nil)
	return root
}

// TestHostileAgents makes calls that want out of the root, want everything, or want nothing sensible: each has an error or a bounded
// answer in time, nothing outside is read, and the server goes on.
func TestHostileAgents(t *testing.T) {
	corpus.Heavy(t) // some hundred calls
	root := hostileRoot(t)
	w := startAgent(t, root)
	w.answer(w.call("report", `{"file":"demo.json.gz"}`), time.Minute)
	if text := w.answer(w.call("report", `{"file":"back.json.gz"}`), time.Minute); !strings.Contains(text, "bound by") {
		t.Errorf("a link that leads back is refused: %.300s", text)
	}

	before, most := held(w.cmd.Process.Pid), int64(0)
	var peak sync.WaitGroup
	done := make(chan bool)
	peak.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				most = max(most, held(w.cmd.Process.Pid))
			}
		}
	})

	calls := 0
	check := func(what, answer string, wrong bool) {
		t.Helper()
		calls++
		switch {
		case strings.Contains(answer, "SECRET"):
			t.Errorf("%s: reads outside of the root: %.300s", what, answer)
		case len(answer) > 6*limits.AgentBytes:
			t.Errorf("%s: %d bytes", what, len(answer))
		case strings.Contains(answer, "this is a bug"), strings.Contains(answer, "goroutine "):
			t.Errorf("%s: %.600s", what, answer)
		case wrong && !strings.Contains(answer, `"isError":true`) && !strings.Contains(answer, `"error":{`):
			t.Errorf("%s: no error: %.300s", what, answer)
		}
	}
	one := func(tool, arguments string, wrong bool) {
		t.Helper()
		began := time.Now()
		w.asked = cut(tool+" "+arguments, 200)
		answer := w.answer(w.call(tool, arguments), limits.AgentQueryTime+20*time.Second)
		check(w.asked, answer, wrong)
		if took := time.Since(began); took > 3*time.Second {
			t.Logf("%v for %s", took, w.asked)
		}
		w.alive()
	}

	escapes := []string{"link.json", "absolute.json", "job", "job/rank0.json", "ranks", "ranks/rank0.json", "one", "linked", "linked2", "linked3", "parts", "mixed", "mixedtables", "mixedparts", "up", "up/secret.json", "up/tables",
		"loop.json", "broken.json", "zero.json", "environ.json", "all", "all/etc/passwd", "pipe.json", "links.tar", "far.tar", "folder.json",
		"../outside/secret.json", "./../outside/secret.json", "two words/../../outside/secret.json", "..", "../", "/", "/etc/passwd", filepath.Dir(root) + "/outside/secret.json",
		"//etc/passwd", root + "/../outside/secret.json", "up/../../outside/secret.json", "", ".", "-", "~", "*", "*.json", "[a", "file:///etc/passwd", "demo.json.gz/", "demo.json.gz/x", "\u202egz.nosj", "de\u0301mo.json.gz",
		"a\x00b", "\xed\xa0\x80", "demo.json.gz\n--html=x", strings.Repeat("a", 1<<20), strings.Repeat("../", 10_000) + "etc/passwd", strings.Repeat("x/", 100_000)}
	for i, name := range escapes {
		file, _ := json.Marshal(name)
		for k, tool := range []string{"report", "check", "query", "advise"} {
			if k != i%4 && i >= 16 { // the first ones by all tools
				continue
			}
			arguments := fmt.Sprintf(`{"file":%s}`, file)
			if tool == "query" {
				arguments = fmt.Sprintf(`{"file":%s,"sql":"select name from events limit 5"}`, file)
			}
			one(tool, arguments, name != "demo.json.gz/") // that one is there
		}
	}
	one("diff", `{"before":"demo.json.gz","after":"link.json"}`, true)
	one("diff", `{"before":"job","after":"ranks"}`, true)
	one("list_traces", `{"folder":"up"}`, true)
	one("list_traces", `{"folder":"../outside"}`, true)
	one("list_traces", `{}`, false)

	for _, c := range [][2]string{
		{"report", `{"trace":"demo.json.gz"}`}, {"report", `{"file":"\ud800"}`}, {"report", `{}`}, {"report", `[]`}, {"report", `5`}, {"report", `"demo.json.gz"`}, {"report", `{"file":5}`}, {"report", `{"file":null,"step":{}}`}, {"report", `{"file":["demo.json.gz"]}`},
		{"report", `{"file":"demo.json.gz","step":1.5}`}, {"report", `{"file":"demo.json.gz","step":"two"}`}, {"report", `{"file":"demo.json.gz","step":99999999999999999999}`}, {"report", `{"file":"demo.json.gz","step":-1}`},
		{"report", `{"file":"demo.json.gz","top":1e400}`}, {"report", `{"file":"demo.json.gz","output":"x.pftrace"}`}, {"report", `{"file":"demo.json.gz","method":"exact --html=x"}`}, {"report", `{"file":"demo.json.gz","analyses":"all,--html=x"}`},
		{"whatif", `{"file":"demo.json.gz","scenarios":"all"}`}, {"whatif", `{"file":"demo.json.gz","scenarios":["--scenarios=/etc/passwd"]}`}, {"whatif", `{"file":"demo.json.gz","scenarios":[` + strings.Repeat(`"x",`, 100_000) + `"x"]}`},
		{"event", `{"file":"demo.json.gz","event":1e30}`}, {"event", `{"file":"demo.json.gz","event":"1; select 1"}`}, {"event", `{"file":"demo.json.gz","event":99999999999999999999}`},
		{"path_between", `{"file":"demo.json.gz","from_ns":0.5,"to_ns":1}`}, {"nothing", `{}`}, {"", `{}`}, {"report\u0000", `{}`},
		{"query", `{"file":"demo.json.gz","sql":5}`}, {"query", `{"file":"demo.json.gz","sql":"attach '/etc/passwd' as p"}`}, {"query", `{"file":"demo.json.gz","sql":"select load_extension('x')"}`}, {"query", `{"file":"demo.json.gz","sql":"select writefile('x','y')"}`},
		{"query", `{"file":"demo.json.gz","sql":"select readfile('/etc/passwd')"}`}, {"query", `{"file":"demo.json.gz","sql":"pragma temp_store_directory='/tmp'"}`}, {"query", `{"file":"demo.json.gz","sql":"vacuum into '/tmp/x'"}`},
		{"query", `{"file":"demo.json.gz","sql":"--"}`}, {"query", `{"file":"demo.json.gz","sql":"select 1; select 2"}`}, {"query", `{"file":"demo.json.gz","sql":"` + strings.Repeat("(", 200_000) + `"}`},
		{"query", `{"file":"demo.json.gz","sql":"select length(replace(hex(zeroblob(400000000)),'0','abcdefgh'))"}`}, {"query", `{"file":"demo.json.gz","sql":"select printf('%.*c', 1000000000, 'x')"}`},
		{"query", `{"file":"demo.json.gz","sql":"select zeroblob(16000000), zeroblob(16000000), zeroblob(16000000)"}`},
		{"query", `{"file":"demo.json.gz","sql":"with recursive t(x,y) as (select 1,'a' union all select x+1, y||y from t) select max(length(y)) from t"}`},
		{"query", `{"file":"demo.json.gz","sql":"create temp table b as with recursive t(x) as (select 1 union all select x+1 from t) select x, randomblob(1000) from t; select 1"}`},
		{"query", `{"file":"demo.json.gz","sql":"with recursive t(x) as (select 1 union all select x+1 from t) select count(distinct hex(randomblob(100000))) from t"}`},
	} {
		one(c[0], c[1], true)
	}
	for _, c := range [][2]string{ // these have an answer, within bounds
		{"hotspots", `{"file":"demo.json.gz","top":2147483647}`}, {"hotspots", `{"file":"demo.json.gz","top":-5}`}, {"event", `{"file":"demo.json.gz","event":-1}`}, {"event", `{"file":"demo.json.gz","event":9223372036854775807}`},
		{"path_between", `{"file":"demo.json.gz","from_ns":"-9223372036854775808","to_ns":9223372036854775807}`}, {"path_between", `{"file":"demo.json.gz","from_ns":5,"to_ns":1}`},
		{"query", `{"file":"demo.json.gz","sql":"select * from events, events"}`}, {"query", `{"file":"demo.json.gz","sql":"select hex(zeroblob(8000000))"}`}, {"query", `{"file":"demo.json.gz","sql":"` + strings.Repeat(" ", 3_000_000) + `select 1"}`},
		{"query", `{"file":"demo.json.gz","sql":"with recursive t(x) as (select 1 union all select x+1 from t) select x, hex(zeroblob(100000)) from t"}`}, {"report", `{"file":"demo.json.gz","analyses":"all","top":2147483647}`},
		{"whatif", `{"file":"demo.json.gz","best":2147483647}`},
	} {
		one(c[0], c[1], false)
	}

	for _, line := range []string{"this is no JSON", `{"jsonrpc":"2.0","id":7,`, "[]", "[1,2]", "5", "null", "{}", `{"id":7}`, `{"jsonrpc":"1.0","id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":7,"method":7}`,
		`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000), "\xff\xfe{\x00", "\x00", `"` + strings.Repeat("a", limits.AgentLine+10) + `"`,
		`{"jsonrpc":"2.0","id":8,"method":"nothing/such"}`, `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":5}`, `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":7}}`} {
		w.send(line)
		id := "null"
		var head struct{ ID json.RawMessage }
		if json.Unmarshal([]byte(line), &head); len(head.ID) > 0 && head.ID[0] != '{' {
			id = string(head.ID)
		}
		check("line "+cut(line, 60), w.answer(id, 20*time.Second), true)
		w.alive()
	}
	for _, line := range []string{"", "\r", `{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`, `{"jsonrpc":"2.0","method":"nothing/such"}`} {
		w.send(line) // what needs no answer
		w.alive()
		calls++
	}

	// Endless queries side by side; a quick call does not wait for them.
	endless := func(sql string) string {
		b, _ := json.Marshal(map[string]string{"file": "demo.json.gz", "sql": sql})
		return w.call("query", string(b))
	}
	slow := []string{endless("with recursive t(x) as (select 1 union all select x+1 from t) select count(*) from t"),
		endless("with recursive t(x) as (select 1 union all select x+1 from t) select quantile_cont(x, 0.5), median(x) from t"),
		endless("select count(*) from events a, events b, events c, events d where a.dur_ns + b.dur_ns > c.dur_ns + d.dur_ns")}
	began := time.Now()
	check("beside slow calls", w.answer(w.call("query", `{"file":"demo.json.gz","sql":"select count(*) from segments"}`), limits.AgentQueryTime-time.Second), false)
	if took := time.Since(began); took > limits.AgentQueryTime-time.Second {
		t.Errorf("a quick call took %v beside slow ones", took)
	}
	for _, id := range slow {
		check("endless query "+id, w.answer(id, limits.AgentQueryTime+30*time.Second), true)
	}
	w.alive()
	close(done)
	peak.Wait()
	t.Logf("%d calls; memory %d MB before, %d MB at most", calls, before/1e6, most/1e6)
	// At the end three endless queries run side by side, of which one keeps what it counts: it may take all that one query may.
	if more := most - before; more > limits.AgentMemory+150_000_000 {
		t.Errorf("%d MB of memory beyond the %d MB before", more/1e6, before/1e6)
	}
	if calls < 60 {
		t.Errorf("only %d calls", calls)
	}
}

// TestAgentsChildEnds: the process that does the work of a call ends with the server, however that ends, and when the agent gives up.
func TestAgentsChildEnds(t *testing.T) {
	root := hostileRoot(t)
	for _, end := range []struct {
		name string
		do   func(w *agentWire, id string)
	}{
		{"SIGTERM", func(w *agentWire, _ string) { w.cmd.Process.Signal(syscall.SIGTERM) }},
		{"SIGKILL", func(w *agentWire, _ string) { w.cmd.Process.Kill() }},
		{"hanging up", func(w *agentWire, _ string) { w.in.Close() }},
		{"cancelling", func(w *agentWire, id string) {
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		}},
	} {
		w := startAgent(t, root)
		id := w.call("query", `{"file":"demo.json.gz","sql":"with recursive t(x) as (select 1 union all select x+1 from t) select count(*) from t"}`)
		var child []int
		for from := time.Now(); len(child) == 0 && time.Since(from) < 20*time.Second; time.Sleep(10 * time.Millisecond) {
			child = children(w.cmd.Process.Pid)
		}
		if len(child) == 0 {
			t.Fatalf("%s: no child", end.name)
		}
		time.Sleep(500 * time.Millisecond) // into the query
		end.do(w, id)
		from := time.Now()
		for alive(child[0]) && time.Since(from) < 5*time.Second {
			time.Sleep(10 * time.Millisecond)
		}
		if alive(child[0]) {
			t.Errorf("%s: the child goes on", end.name)
			syscall.Kill(child[0], syscall.SIGKILL)
		}
	}
}

// alive reports whether a process runs, or may run; one that has ended and that nobody asked about does not.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(state, "Z")
}

// cut is the beginning of a text, for messages.
func cut(s string, n int) string { return s[:min(len(s), n)] }
