package limits

import "io"

// Reader is unpacked content that ends with an error where there is too much of it for what was read of the packed form.
type Reader struct {
	R      io.Reader
	Meter  *Meter
	Packed func() int64 // bytes of the packed form read so far; nil: somebody else tells the meter
	before int64
}

func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.R.Read(p)
	if r.Packed != nil {
		packed := r.Packed()
		r.Meter.Allow((packed - r.before) * Packed)
		r.before = packed
	}
	if e := r.Meter.Make(int64(n)); e != nil {
		return 0, e
	}
	return n, err
}
