package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"overlay/internal/testtrace/corpus"
)

// build compiles the page's program and the one of this machine into a folder, the former by the Makefile, which knows how.
func build(t *testing.T) (wasm, native string) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles two programs")
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make")
	}
	dir := t.TempDir()
	wasm, native = filepath.Join(dir, "overlay.wasm"), filepath.Join(dir, "overlay")
	alone := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-o", native, "../overlay")
	alone.Env = append(os.Environ(), "CGO_ENABLED=0")
	for _, cmd := range []*exec.Cmd{alone, exec.Command("make", "-C", "../..", "web", "WEB="+dir, "VCS=-buildvcs=false")} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
	}
	return wasm, native
}

// wasmExec is the glue of the Go that compiled the program: no other one fits.
func wasmExec(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "lib", "wasm", "wasm_exec.js")
}

// reply is what testdata/node.js prints.
type reply struct {
	answer
	Error  string
	Stages []string
	Memory int64
}

// TestNode runs the page's program outside of a browser: its output is the program's, byte for byte, and so is what it says.
func TestNode(t *testing.T) {
	corpus.Heavy(t) // compiles the library and the program for WebAssembly
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	wasm, native := build(t)
	ask := func(input string, q request) (reply, []byte) {
		q.Name, q.Size = filepath.Base(input), fileSize(t, input)
		text, _ := json.Marshal(q)
		out := filepath.Join(t.TempDir(), "out")
		printed, err := exec.Command(node, "testdata/node.js", wasmExec(t), wasm, string(text), input, out).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, printed)
		}
		var r reply
		if err := json.Unmarshal(printed, &r); err != nil {
			t.Fatalf("%v: %.2000s", err, printed)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return r, b
	}
	type run struct {
		input string
		q     request
		flags string
	}
	runs := []run{
		{"../../testdata/demo.json.gz", request{}, ""},
		{"../../testdata/demo.json.gz", request{Step: "2", Rows: true}, "--step 2 --analysis all"},
		{"../../testdata/demo.json.gz", request{Slim: true, Desk: true}, "--only-critical"},
	}
	for _, name := range corpus.Find(t, "*nccl_data*", "*mi300*") {
		runs = append(runs, run{name, request{}, ""})
	}
	for _, c := range runs {
		dir := t.TempDir()
		want, report := filepath.Join(dir, "want.pftrace"), filepath.Join(dir, "report.json")
		args := append([]string{"run", "-i", c.input, "-o", want, "--report", report, "--quiet"}, strings.Fields(c.flags)...)
		if out, err := exec.Command(native, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		wantBytes, err := os.ReadFile(want)
		if err != nil {
			t.Fatal(err)
		}
		got, gotBytes := ask(c.input, c.q)
		if got.Error != "" || !bytes.Equal(gotBytes, wantBytes) {
			t.Errorf("%s %s: error %q, %d bytes, want %d", c.input, c.flags, got.Error, len(gotBytes), len(wantBytes))
		}
		if !strings.Contains(got.Page, "</html>") || strings.Contains(got.Page, `id="desk"`) != c.q.Desk || len(got.Stages) < 5 {
			t.Errorf("%s %s: stages %q, page %.1000s", c.input, c.flags, got.Stages, got.Page)
		}
		t.Logf("%s %s: %d bytes, memory %d MB", filepath.Base(c.input), c.flags, len(gotBytes), got.Memory>>20)
	}

	if n := brotli(t, node, wasm); n > maxWire {
		t.Errorf("%d bytes of brotli, more than %d", n, maxWire)
	}

	script := filepath.Join(t.TempDir(), "page.js")
	if err := os.WriteFile(script, []byte("'use strict'; alert(1)"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		input string
		q     request
		want  string
	}{
		{script, request{}, "page.js: byte 0: "},
		{"../../testdata/demo.json.gz", request{Step: "two"}, `step "two" is neither the number`},
		{"../../testdata/demo.json.gz", request{Step: "99"}, "demo.json.gz: "},
	} {
		if got, b := ask(c.input, c.q); !strings.Contains(got.Error, c.want) || len(b) != 0 {
			t.Errorf("%+v: error %q, %d bytes written; want %q", c.q, got.Error, len(b), c.want)
		}
	}
}

// maxWire keeps the program small enough to be loaded on the way: what a browser gets is compressed. At brotli's best, which takes
// half a minute, it is an eighth less: 1.98 MB.
const maxWire = 2_300_000

// brotli is how many bytes a file has for a browser. Go has no such compressor, Node has.
func brotli(t *testing.T, node, file string) (n int) {
	t.Helper()
	const script = `const z = require('zlib'); console.log(z.brotliCompressSync(require('fs').readFileSync(process.argv[1]),
		{params: {[z.constants.BROTLI_PARAM_QUALITY]: 9, [z.constants.BROTLI_PARAM_LGWIN]: 24}}).length)`
	out, err := exec.Command(node, "-e", script, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &n); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d of brotli, %s", fileSize(t, file), n, runtime.Version())
	return n
}

func fileSize(t *testing.T, name string) int64 {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

var update = flag.Bool("update", false, "write the hashes of the report's scripts into the policy of the page")

// TestPolicy: the page lets the scripts of its report run, by their hashes, and no others.
func TestPolicy(t *testing.T) {
	f, err := os.Open("../../testdata/demo.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, desk, err := analyse(request{Name: "demo.json.gz", Size: fileSize(t, f.Name()), Desk: true}, f, io.Discard, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if x, err := desk.Ask("class:cpu=0.5"); err != nil || len(x.Scenarios) != 1 || x.Scenarios[0].SavedShare <= 0 {
		t.Errorf("half of the CPU's time: %+v, %v", x, err)
	}
	index, err := os.ReadFile("site/index.html")
	if err != nil {
		t.Fatal(err)
	}
	policy := regexp.MustCompile(`'wasm-unsafe-eval'[^;]*;`)
	want := "'wasm-unsafe-eval'"
	for _, m := range regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(a.Page, -1) {
		sum := sha256.Sum256([]byte(m[1]))
		want += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	if got := policy.FindString(string(index)); got != want+";" {
		t.Errorf("site/index.html has %s and wants %s; run the test with -update", got, want)
	}
	if *update {
		if err := os.WriteFile("site/index.html", policy.ReplaceAll(index, []byte(want+";")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGCPercent: small inputs are hardly collected, large ones fit into the memory of a page.
func TestGCPercent(t *testing.T) {
	for _, c := range []struct{ bytes, want int }{{0, 800}, {10 << 20, 800}, {100 << 20, 241}, {500 << 20, 25}, {maxInput, 25}} {
		if got := gcPercent(c.bytes); got != c.want {
			t.Errorf("%d bytes: %d %%, want %d", c.bytes, got, c.want)
		}
	}
}

// TestTooLarge refuses what a page cannot hold before a byte of it is read.
func TestTooLarge(t *testing.T) {
	var out bytes.Buffer
	_, _, err := analyse(request{Name: "big.json", Size: maxInput + 1}, nil, &out, func(string) {})
	if err == nil || !strings.Contains(err.Error(), "big.json has 1073741825 bytes") || out.Len() != 0 {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
}
