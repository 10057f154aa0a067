package kineto

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/gzip"

	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// unsteady is a spool that moves what it has when it is full, and spoils the place where it was. What it lends is spoilt
// when it comes back.
type unsteady struct {
	room  int
	held  []byte
	moved []byte
}

func (u *unsteady) Write(p []byte) (int, error) {
	if u.moved == nil && len(u.held)+len(p) <= u.room {
		u.held = append(u.held, p...)
		return len(p), nil
	}
	if u.moved == nil {
		u.moved = bytes.Clone(u.held)
		spoil(u.held)
	}
	u.moved = append(u.moved, p...)
	return len(p), nil
}

func (u *unsteady) Bytes() ([]byte, error) {
	if u.moved != nil {
		return u.moved, nil
	}
	return u.held, nil
}

func (u *unsteady) Held(more int) ([]byte, bool) {
	return u.held, u.moved == nil && len(u.held)+more <= u.room
}

func spoil(b []byte) {
	for i := range b {
		b[i] = '"'
	}
}

// readBeside reads a stream with small pieces while it is unpacked.
func readBeside(t testing.TB, r io.Reader, room int, o Options) (*trace.Trace, error) {
	t.Helper()
	u := &unsteady{room: room}
	if room > 0 {
		u.held = make([]byte, 0, room)
	}
	in, err := Decompress(r, "x", o, u)
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

// TestReadBeside: pieces that are scanned while the input is unpacked give the trace that whole bytes give, however
// the input comes, and also when its bytes move on the way.
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
		sources["demo"] = TextOf(tr).Src
	}
	for name, src := range sources {
		want, wantErr := Parse(src, "x", Options{chunk: 1 << 30})
		for _, size := range []int{150, 1000, 20_000} {
			for _, room := range []int{0, len(src) / 3, len(src)} {
				gz, zs := packed(t, src)
				for form, r := range map[string]io.Reader{"blocks": &blocks{src, rand.New(rand.NewSource(int64(size)))}, "bytes": iotest.OneByteReader(bytes.NewReader(src)), "gzip": bytes.NewReader(gz), "zstd": bytes.NewReader(zs)} {
					if form == "bytes" && len(src) > 60_000 {
						continue
					}
					got, err := readBeside(t, r, room, Options{chunk: size})
					if fmt.Sprint(err) != fmt.Sprint(wantErr) || !same(got, want) {
						t.Fatalf("%s, %s, pieces of %d bytes, room for %d of %d: another trace, %v", name, form, size, room, len(src), err)
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
	for n := 0; n < len(gz); n += 1 + len(gz)/40 {
		fixed(fmt.Sprintf("gzip cut at %d", n), gz[:n])
		fixed(fmt.Sprintf("gzip with a flip at %d", n), with(gz, n, 0x10))
	}
	for n := 0; n < len(zs); n += 1 + len(zs)/40 {
		fixed(fmt.Sprintf("zstd cut at %d", n), zs[:n])
		fixed(fmt.Sprintf("zstd with a flip at %d", n), with(zs, n, 0x10))
	}
	for n := 0; n < level0.Len(); n += 1 + level0.Len()/60 {
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
			want, wantErr := readBeside(t, open(), len(src)*2/3, o)
			workers(t, 4)
			got, err := readBeside(t, open(), len(src)*2/3, o)
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

// TestBesideAtAll: pieces are scanned while the input is unpacked, not only afterwards, and Parse takes them.
func TestBesideAtAll(t *testing.T) {
	workers(t, 2)
	src := generated(4000)
	u := &unsteady{room: len(src), held: make([]byte, 0, len(src))}
	in, err := Decompress(bytes.NewReader(src), "x", Options{chunk: 10_000}, u)
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	for _, p := range in.Ahead.list {
		if !p.done {
			t.Errorf("the piece at %d is not scanned", p.from)
		}
		events += len(p.events)
	}
	if left := len(src) - in.Ahead.at; left > 5000 || events < 3900 || len(in.Ahead.list) < 40 {
		t.Errorf("%d events in %d pieces, %d bytes left", events, len(in.Ahead.list), left)
	}
	firsts := make([]*chunkParser, len(in.Ahead.list)) // made anew by each scan
	for i, p := range in.Ahead.list {
		firsts[i] = p.chunkParser
	}
	pieces := scanList(src, in.Ahead.from, 10_000, in.Ahead)
	for i, p := range in.Ahead.list {
		if pieces[i] != p || p.chunkParser != firsts[i] {
			t.Errorf("the piece at %d was scanned again", p.from)
		}
	}
}

// TestPause: pieces that nobody scans yet are forgotten, and cut again from where the first of them began; where the input is not worth reading they are not scanned
// at all.
func TestPause(t *testing.T) {
	a := &Ahead{at: 900, list: []*piece{{from: 100, to: 300}, {from: 300, to: 600}, {from: 600, to: 900}}, next: 1}
	a.change.L = &a.mu
	a.pause()
	if len(a.list) != 1 || a.at != 300 {
		t.Errorf("%d pieces, the next from %d", len(a.list), a.at)
	}
	workers(t, 2)
	src := generated(400)
	u, free := &unsteady{room: len(src), held: make([]byte, 0, len(src))}, make(chan struct{})
	var scanned atomic.Int64
	defer func(new func() any) { tries = sync.Pool{New: new} }(tries.New)
	tries = sync.Pool{New: func() any { // whoever scans is held up for a while
		<-free
		scanned.Add(1)
		return &trie{nodes: make([]node, 1)}
	}}
	unpackBeside(u, Options{chunk: 1000}, func(to io.Writer) bool {
		if _, err := to.Write(src); err != nil {
			t.Error(err)
		}
		time.AfterFunc(20*time.Millisecond, func() { close(free) })
		return false
	})
	if n := scanned.Load(); n > 1 {
		t.Errorf("%d pieces were scanned of what is not worth it", n)
	}
}
