package overlay

import (
	"bytes"
	"hash/crc32"

	"overlay/internal/kineto"
)

// Scan is what drawing needs of all bytes of a trace. It can be made while the analysis runs, which leaves a core idle.
type Scan struct {
	tr   *kineto.Trace
	wait func()
	sums [2]uint32 // CRC-32 of the bytes, Castagnoli and IEEE
	hint bool      // some bytes look like marks of an earlier overlay
}

// StartScan begins to scan a trace, whose bytes must not change any more.
func StartScan(tr *kineto.Trace) *Scan {
	s := &Scan{tr: tr}
	s.wait = kineto.Beside(func() {
		s.hint = marksHinted(tr.Src)
		s.sums = checksums(tr.Src)
	})
	return s
}

// of returns the scan, finished, when it is one of tr; else nil.
func (s *Scan) of(tr *kineto.Trace) *Scan {
	if s == nil || s.tr != tr {
		return nil
	}
	s.wait()
	return s
}

// scanChunk is how much is scanned at a time: a collection of garbage waits for the end of such a loop.
const scanChunk = 128 << 10

func marksHinted(src []byte) bool {
	for len(src) > 0 {
		chunk := src[:min(len(src), scanChunk+len(markHint)-1)] // a hint may lie across the border
		if bytes.Contains(chunk, markHint) {
			return true
		}
		src = src[min(len(src), scanChunk):]
	}
	return false
}

func checksums(src []byte) (sums [2]uint32) {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	for len(src) > 0 {
		n := min(len(src), scanChunk)
		sums[0] = crc32.Update(sums[0], castagnoli, src[:n])
		sums[1] = crc32.Update(sums[1], crc32.IEEETable, src[:n])
		src = src[n:]
	}
	return sums
}
