package limits

import (
	"fmt"
	"sync"
)

// What an input may become when it is read. A real trace is packed to a tenth or a twentieth by gzip and zstd, and another format
// becomes text of some times its size: the factors below lie far above that, and far below the factors of a file that was made to do harm.
const (
	Expand = 64 << 30 // bytes that an input may become in all, unless --max-expand says otherwise
	Free   = 32 << 20 // bytes that any input may become, however small it is

	Packed  = 250  // bytes for each byte of a compressed stream
	Records = 1000 // bytes of text for each byte of a record that refers to long names
	Rows    = 100  // bytes of text for each byte of a database

	Text = 64 << 20  // bytes of one text in a database
	Heap = 128 << 20 // bytes that the engine of a database may take
	// Steps of the engine of a database: about half a second, and for each byte of it some more.
	Steps     = 20_000_000
	StepsByte = 100
)

// Meter counts the bytes that are made of one input, and refuses more than it allows. A Meter may be used by several goroutines.
type Meter struct {
	asked int64 // of --max-expand: then nothing else counts; 0 = not asked

	mu       sync.Mutex
	allowed  int64
	made     int64
	reserved int64 // of made, what is not written yet
}

// NewMeter makes a meter for one input. most is the value of --max-expand, 0 where the user gave none: then an input may become Free
// bytes, and more for what Allow is told of it.
func NewMeter(most int64) *Meter { return &Meter{asked: most, allowed: Free} }

// Allow raises what may be made by n bytes: so much of the input was read.
func (m *Meter) Allow(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.allowed = min(m.allowed+n, Expand)
}

// Make counts n bytes that are made, and fails where they are too many.
func (m *Meter) Make(n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count(n)
}

// Reserve counts n bytes that lie in a buffer and will be written later.
func (m *Meter) Reserve(n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reserved += n
	return m.count(n)
}

// Write counts n bytes that are written, but for those that were reserved.
func (m *Meter) Write(n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := min(n, m.reserved)
	m.reserved -= known
	return m.count(n - known)
}

// Err is the error that Make gave, nil where none was too many.
func (m *Meter) Err() error { return m.Make(0) }

func (m *Meter) count(n int64) error {
	if m.made += n; m.made > m.most() {
		return &TooMuch{Most: m.most(), Asked: m.asked > 0 || m.allowed == Expand}
	}
	return nil
}

func (m *Meter) most() int64 {
	if m.asked > 0 {
		return m.asked
	}
	return m.allowed
}

// TooMuch is that an input becomes more than it may.
type TooMuch struct {
	Most  int64 // bytes
	Asked bool  // --max-expand says so, or its default
}

func (e *TooMuch) Error() string {
	if e.Asked {
		return fmt.Sprintf("the input expands to more than %d bytes: raise --max-expand", e.Most)
	}
	return fmt.Sprintf("the input expands to more than %d bytes, which is out of all proportion to its size: if it is a trace, say how much it may become, as in --max-expand 10GB", e.Most)
}
