//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/ncruces/go-sqlite3"
	"google.golang.org/protobuf/encoding/protowire"

	"overlay/internal/testtrace/corpus"
)

// A bomb may take so much before it is refused.
const (
	bombSeconds = 10
	bombMemory  = 300 << 20
)

// TestBombs: a file that becomes far more than it is ends in one line of error, soon and in little memory, and leaves no output.
func TestBombs(t *testing.T) {
	program, err := exec.LookPath("overlay") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	commands := []string{"run"}
	if corpus.Long() {
		commands = append(commands, "check")
	}
	for name, make := range bombs {
		t.Run(name, func(t *testing.T) {
			if slices.Contains(slowBombs, name) {
				corpus.Heavy(t)
			}
			dir := t.TempDir()
			in, out := filepath.Join(dir, name), filepath.Join(dir, "out.pftrace")
			make(t, in)
			for _, command := range commands {
				args := map[string][]string{"check": {"check", in}, "run": {"run", "-i", in, "-o", out}}[command]
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, program, args...)
				lowerPeak()
				text, _ := cmd.CombinedOutput()
				state := cmd.ProcessState
				if state.ExitCode() != exitFailed || bytes.Count(text, []byte("\n")) != 1 || !bytes.HasPrefix(text, []byte("overlay: ")) {
					t.Errorf("%s: status %d: %.300s", args[0], state.ExitCode(), text)
				}
				used := state.SysUsage().(*syscall.Rusage)
				peak := int64(used.Maxrss)
				if runtime.GOOS != "darwin" {
					peak <<= 10
				}
				if took := state.UserTime() + state.SystemTime(); took > bombSeconds*time.Second || peak > bombMemory && !testing.Short() {
					t.Errorf("%s: %v, %d MB", args[0], took, peak>>20)
				}
			}
			left, _ := os.ReadDir(dir)
			if len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// lowerPeak makes the peak memory of this process small: on Linux that of a process begins with it, since until its program is there
// it has the memory of the one that started it.
func lowerPeak() {
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // see proc(5); elsewhere there is no such file
}

// bombs makes files by the endings of their names.
var bombs = map[string]func(t *testing.T, name string){
	"blanks.json.gz": func(t *testing.T, name string) {
		writeFile(t, name, packed(t, 400<<20, func(b *bytes.Buffer) (flusher, error) { return gzip.NewWriterLevel(b, 9) }))
	},
	"name.pftrace":     func(t *testing.T, name string) { writeFile(t, name, longNames(10_000_000, 3000, 10, 2)) },
	"category.pftrace": func(t *testing.T, name string) { writeFile(t, name, longNames(5_000_000, 3000, 3, 1, 3, 1)) },
	"once.pftrace": func(t *testing.T, name string) { // one event that says the same number again and again
		writeFile(t, name, longNames(5_000_000, 1, slicesRepeat([]uint64{3, 1}, 5000)...))
	},
	"packet.pftrace": func(t *testing.T, name string) {
		b := packed(t, 200<<20, func(b *bytes.Buffer) (flusher, error) { return zlib.NewWriterLevel(b, 9) })
		writeFile(t, name, message(1, message(50, b)))
	},
	"over.zip":   overlappingZip,
	"endless.db": database("create view kernels as " + endless + " select x id, 'k' name, x * 10 start, x * 10 + 5 end, 1 queue_id, 1 stream_id, 1 tid, 1 pid, x stack_id from t"),
	"never.db":   database("create view kernels as " + endless + " select x id, 'k' name, x start, x end from t where x < 0"),
	"sorted.db":  database("create view kernels as " + endless + " select x id, 'k' name, x start, x end from t order by name"),
	"ids.db":     database("create view StringIds as "+endless+" select x id, 'abc' || x value from t", "create table NVTX_EVENTS(start, end)"),
	"long.db":    database("create view kernels as " + endless + " select x id, replace(hex(zeroblob(1000000)), '0', 'abcd') name, x * 10 start, x * 10 + 5 end from t"),
	"huge.db":    database("create view kernels as select length(replace(hex(zeroblob(400000000)), '0', 'abcdefgh')) start, 1 end"),
	"heap.db":    database("create view kernels as select length(a || b || c) start, 1 end from (select hex(zeroblob(20000000)) a, hex(zeroblob(20000001)) b, hex(zeroblob(20000002)) c)"),
	"text.db":    database("create table kernels(id, name, start integer, end integer)", "insert into kernels values(1, zeroblob(80000000), 1, 2)"),
}

// slowBombs reach a limit late, by the same way as one of the others does.
var slowBombs = []string{"packet.pftrace", "category.pftrace", "never.db", "ids.db", "huge.db", "sorted.db", "blanks.json.gz"}

const endless = "with recursive t(x) as (select 1 union all select x + 1 from t)"

type flusher interface {
	Write(p []byte) (int, error)
	Close() error
}

// packed compresses blanks.
func packed[W flusher](t *testing.T, n int, open func(*bytes.Buffer) (W, error)) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	if err != nil {
		t.Fatal(err)
	}
	w.Write([]byte(`{"traceEvents":[`))
	part := bytes.Repeat([]byte(" "), 1<<20)
	for ; n > 0; n -= len(part) {
		w.Write(part)
	}
	w.Write([]byte("]}"))
	w.Close()
	return b.Bytes()
}

func message(field protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), b)
}

func numbers(pairs ...uint64) (b []byte) {
	for i := 0; i < len(pairs); i += 2 {
		b = protowire.AppendVarint(protowire.AppendTag(b, protowire.Number(pairs[i]), protowire.VarintType), pairs[i+1])
	}
	return b
}

func slicesRepeat(list []uint64, n int) (all []uint64) {
	for range n {
		all = append(all, list...)
	}
	return all
}

// longNames is a Perfetto trace with a name and a category of so many bytes, number 2 and 1, and slices that have the given fields.
func longNames(length, slices int, fields ...uint64) []byte {
	packet := func(parts ...[]byte) []byte { return message(1, bytes.Join(parts, nil)) }
	thread := bytes.Join([][]byte{numbers(1, 1, 2, 2), message(5, []byte("main"))}, nil)
	out := packet(numbers(10, 1), message(60, append(numbers(1, 7), message(4, thread)...)))
	long := bytes.Repeat([]byte("N"), length)
	interned := append(message(1, append(numbers(1, 1), message(2, long)...)), message(2, append(numbers(1, 2), message(2, long)...))...)
	out = append(out, packet(numbers(10, 1, 13, 1), message(12, interned))...)
	for i := range uint64(slices) {
		out = append(out, packet(numbers(8, 1000+2*i, 10, 1, 13, 2), message(11, append(numbers(9, 1, 11, 7), numbers(fields...)...)))...)
		out = append(out, packet(numbers(8, 1001+2*i, 10, 1), message(11, numbers(9, 2, 11, 7)))...)
	}
	return out
}

// overlappingZip is a zip whose 2,000 members of 20 MB are one and the same stretch of the file.
func overlappingZip(t *testing.T, name string) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	var body bytes.Buffer
	f, _ := flate.NewWriter(&body, 9)
	content := append(append([]byte(`{"traceEvents":[`), bytes.Repeat([]byte(" "), 20<<20)...), "]}"...)
	f.Write(content)
	f.Close()
	w, err := z.CreateRaw(&zip.FileHeader{Name: "r0000.json", Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(content), CompressedSize64: uint64(body.Len()), UncompressedSize64: uint64(len(content))})
	if err != nil {
		t.Fatal(err)
	}
	w.Write(body.Bytes())
	z.Close()
	const end = 22
	whole := b.Bytes()
	tail := whole[len(whole)-end:]
	size := binary.LittleEndian.Uint32(tail[12:])
	at := binary.LittleEndian.Uint32(tail[16:])
	entry := whole[at : at+size]
	binary.LittleEndian.PutUint16(tail[8:], 2000)
	binary.LittleEndian.PutUint16(tail[10:], 2000)
	binary.LittleEndian.PutUint32(tail[12:], 2000*size)
	out := append([]byte{}, whole[:at]...)
	for range 2000 {
		out = append(out, entry...)
	}
	writeFile(t, name, append(out, tail...))
}

// database makes one by some statements.
func database(statements ...string) func(t *testing.T, name string) {
	return func(t *testing.T, name string) {
		t.Helper()
		c, err := sqlite3.Open("file:" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Exec(strings.Join(statements, ";")); err != nil {
			t.Fatal(err)
		}
	}
}
