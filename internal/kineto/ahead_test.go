package kineto

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"

	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// readBeside reads a stream with small pieces while it is unpacked.
func readBeside(t testing.TB, r io.Reader, o Options) (*trace.Trace, error) {
	t.Helper()
	in, err := Decompress(r, "x", o, &memory{})
	var tr *trace.Trace
	if err == nil {
		o.Cut, o.Ahead = in.Cut, in.Ahead
		tr, err = Parse(in.Bytes, "x", o)
	}
	return tr, err
}

// workers sets the number of processors for a test.
func workers(t testing.TB, n int) {
	old := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
}

// TestReadBeside: pieces that are scanned while the input is unpacked give the trace that whole bytes give, and the text, however
// the input comes.
func TestReadBeside(t *testing.T) {
	workers(t, 4)
	const nested = `{"ph":"X","cat":"cpu_op","name":"a }, {\"ph\": b","pid":1,"tid":2,"ts":10.5,"dur":3,"args":{"list":[{"ph":"X","name":"n"}, {"ph":"X","ts":3}],"x":"}, { "}}`
	many := func(event string) []string { return strings.Split(strings.Repeat(event+"\n", 59)+event, "\n") }
	sources := map[string][]byte{
		"generated":     generated(400),
		"array":         []byte("\ufeff [" + strings.Join(many(goodOp), ",") + "]"),
		"nested":        wrap(many(nested)...),
		"short":         []byte(`{"traceEvents":[` + strings.Repeat(`{"ph":"X"},`, 900) + `{"ph":"X"}]}`),
		"broken events": wrap(append(many(goodOp), append([]string{`{"ph":"X","name":`, `{"ph":"X",,}`}, many(nextOp)...)...)...),
		"commas":        wrap(append(many(goodOp), append([]string{"", ""}, many(nextOp)...)...)...),
		"no events":     []byte(`{"traceEvents":[` + strings.Repeat(`1,"ph",`, 900) + `null]}`),
		"second list":   append(bytes.TrimSuffix(bytes.TrimSpace(generated(90)), []byte("}")), `,"traceEvents":[`+strings.Join(many(goodOp), ",")+`],"more":[`+strings.Join(many(nextOp), ",")+"]}"...),
		"two documents": append(generated(90), generated(90)...),
		"broken field":  append([]byte(`{"a": [1}, `), generated(90)[1:]...),
		"cut":           generated(400)[:50_000],
		"zeros":         append(generated(400)[:50_000], make([]byte, 9000)...),
		"other":         bytes.Repeat([]byte("no trace "), 2000),
		"empty":         nil,
	}
	for _, path := range []string{corpus.Demo(t)} {
		tr, err := readFile(t, path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sources["demo"] = textOf(tr)
	}
	for name, src := range sources {
		want, wantErr := Parse(src, "x", Options{chunk: 1 << 30})
		sizes := []int{150, 1000, 20_000}
		if testing.Short() {
			sizes = sizes[1:2] // the race detector needs some pieces, not the most
		}
		for _, size := range sizes {
			for _, cpus := range []int{1, 4} {
				workers(t, cpus)
				gz, zs := packed(t, src)
				for form, r := range map[string]io.Reader{"blocks": &blocks{src, rand.New(rand.NewSource(int64(size)))}, "bytes": iotest.OneByteReader(bytes.NewReader(src)), "gzip": bytes.NewReader(gz), "zstd": bytes.NewReader(zs)} {
					if form == "bytes" && len(src) > 60_000 {
						continue
					}
					got, err := readBeside(t, r, Options{chunk: size})
					if fmt.Sprint(err) != fmt.Sprint(wantErr) || !same(got, want) {
						t.Fatalf("%s, %s, pieces of %d bytes, %d processors: another trace, %v", name, form, size, cpus, err)
					}
				}
			}
		}
	}
}

// blocks gives a text in blocks of any length.
type blocks struct {
	left []byte
	rnd  *rand.Rand
}

func (b *blocks) Read(p []byte) (int, error) {
	if len(b.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+b.rnd.Intn(3000))], b.left)
	b.left = b.left[n:]
	return n, nil
}

// TestBrokenBeside: what is wrong with a compressed input is said in the same words on any number of processors.
func TestBrokenBeside(t *testing.T) {
	src := generated(300)
	gz, zs := packed(t, src)
	with := func(b []byte, at int, c byte) []byte {
		b = bytes.Clone(b)
		b[(at+len(b))%len(b)] ^= c
		return b
	}
	var level0 bytes.Buffer // stored blocks: what is cut off is cut off the text
	w, _ := gzip.NewWriterLevel(&level0, 0)
	w.Write(src)
	w.Close()
	failing := errors.New("the disk is gone")
	inputs := map[string]func() io.Reader{
		"fails":     func() io.Reader { return io.MultiReader(bytes.NewReader(gz[:len(gz)/2]), iotest.ErrReader(failing)) },
		"two":       func() io.Reader { return bytes.NewReader(append(bytes.Clone(gz), gz...)) },
		"members":   func() io.Reader { return bytes.NewReader(append(pack(t, src[:9000]), pack(t, src[9000:])...)) },
		"cut later": func() io.Reader { return bytes.NewReader(append(pack(t, src[:9000]), pack(t, src[9000:])[:500]...)) },
		"padded":    func() io.Reader { return bytes.NewReader(append(bytes.Clone(gz), make([]byte, 700)...)) },
		"garbage":   func() io.Reader { return bytes.NewReader(append(bytes.Clone(gz), "garbage"...)) },
	}
	fixed := func(name string, b []byte) { inputs[name] = func() io.Reader { return bytes.NewReader(b) } }
	cuts := 15
	switch {
	case testing.Short():
		cuts = 8
	case corpus.Long():
		cuts = 60
	}
	for n := 0; n < len(gz); n += 1 + len(gz)/cuts {
		fixed(fmt.Sprintf("gzip cut at %d", n), gz[:n])
		fixed(fmt.Sprintf("gzip with a flip at %d", n), with(gz, n, 0x10))
	}
	for n := 0; n < len(zs); n += 1 + len(zs)/cuts {
		fixed(fmt.Sprintf("zstd cut at %d", n), zs[:n])
		fixed(fmt.Sprintf("zstd with a flip at %d", n), with(zs, n, 0x10))
	}
	for n := 0; n < level0.Len(); n += 1 + level0.Len()/cuts {
		fixed(fmt.Sprintf("stored, cut at %d", n), level0.Bytes()[:n])
		fixed(fmt.Sprintf("stored, with a flip at %d", n), with(level0.Bytes(), n, 0x3))
	}
	fixed("checksum", with(gz, -6, 1))
	fixed("length", with(gz, -1, 1))
	fixed("checksum of zstd", with(zs, -1, 1))
	fixed("quotes", pack(t, bytes.ReplaceAll(src, []byte(`"aten::op_3"`), []byte(`"say "aten" op"`))))
	fixed("broken in the middle", pack(t, append(append(bytes.Clone(src[:20_000]), `}}]], "`...), src[20_000:]...)))
	fixed("nothing", pack(t, nil))
	errs := map[string]bool{}
	for name, open := range inputs {
		for _, o := range []Options{{}, {Strict: true}, {MaxExpand: int64(len(src)) / 2}} {
			o.chunk = 1500
			runtime.GOMAXPROCS(1)
			want, wantErr := readBeside(t, open(), o)
			workers(t, 4)
			got, err := readBeside(t, open(), o)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || !same(got, want) {
				t.Errorf("%s: one processor says %v, four %v", name, wantErr, err)
			}
			if err != nil {
				errs[err.Error()] = true
			}
		}
	}
	if len(errs) < 20 {
		t.Errorf("only %d different errors: the inputs are not what they are meant to be", len(errs))
	}
}

func pack(t testing.TB, data []byte) []byte {
	gz, _ := packed(t, data)
	return gz
}

// TestBesideAtAll: pieces are scanned while the input is unpacked, not only afterwards, and their text is gone.
func TestBesideAtAll(t *testing.T) {
	for _, cpus := range []int{1, 2} {
		workers(t, cpus)
		src := generated(4000)
		in, err := Decompress(bytes.NewReader(src), "x", Options{chunk: 10_000}, &memory{})
		if err != nil {
			t.Fatal(err)
		}
		events := 0
		for _, p := range in.Ahead.list {
			if !p.done || p.view != nil {
				t.Errorf("the piece at %d is not scanned, or holds its text", p.off)
			}
			events += len(p.events)
		}
		if len(in.Bytes) > 20_000 || events < 3900 || len(in.Ahead.list) < 40 || in.Size != int64(len(src)) {
			t.Errorf("%d events in %d pieces, %d bytes left", events, len(in.Ahead.list), len(in.Bytes))
		}
		tr, err := Parse(in.Bytes, "x", Options{Ahead: in.Ahead})
		if err != nil || !bytes.Equal(textOf(tr), src) || TextOf(tr).Digest() != checksums([2]uint32{}, src) || TextOf(tr).Length() != int64(len(src)) {
			t.Errorf("the text is another one, %v", err)
		}
	}
}

// TestBrokenEvent: where an event is broken, the text from its piece on stays.
func TestBrokenEvent(t *testing.T) {
	workers(t, 2)
	src := generated(4000)
	src = bytes.Replace(src, src[bytes.LastIndex(src[:len(src)/3], []byte(`"dur"`)):len(src)/3], []byte(`,,}`), 1)
	want, err := Parse(src, "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readBeside(t, bytes.NewReader(src), Options{chunk: 10_000})
	if err != nil || !same(got, want) {
		t.Errorf("another trace, %v", err)
	}
	if kept := len(TextOf(got).Src); kept < len(src)/2 {
		t.Errorf("%d bytes of %d are kept", kept, len(src))
	}
}

// TestGaps: the text stays what it was, whatever stands between events.
func TestGaps(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("[ ")
	for i := range 400 {
		b.WriteString(goodOp + []string{"", ",", "", "\n", " ,, ", ","}[i%6])
	}
	b.WriteString(goodOp + " ]\n")
	whole, err := Parse(b.Bytes(), "x", Options{})
	if err != nil || !bytes.Equal(textOf(whole), b.Bytes()) {
		t.Fatalf("another text, %v", err)
	}
	if tr, err := readBeside(t, bytes.NewReader(b.Bytes()), Options{chunk: 2000}); err != nil || !same(tr, whole) {
		t.Errorf("another trace when it is read while it comes, %v", err)
	}
}
