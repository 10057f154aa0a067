package overlay

import (
	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// Record is what a slim trace says of the run that wrote it.
type Record struct {
	Method string
	cdg.Recorded
}

// attrSlim marks a slim trace; only then does a run take the rest of the record.
const attrSlim = "overlay.slim"

// recorded are the fields of the record beside method, window and annotation, which every overlay has.
func recordedInts(c *cdg.Calibration) []struct {
	key string
	at  *int64
} {
	return []struct {
		key string
		at  *int64
	}{
		{"overlay.launch_min_ns", &c.Lmin}, {"overlay.launch_max_ns", &c.Lmax},
		{"overlay.kernel_min_ns", &c.Kmin}, {"overlay.kernel_max_ns", &c.Kmax},
		{"overlay.event_min_ns", &c.Wmin}, {"overlay.event_max_ns", &c.Wmax},
		{"overlay.sync_min_ns", &c.SyncMin}, {"overlay.sync_max_ns", &c.SyncMax},
	}
}

func recordedSamples(c *cdg.Calibration) []struct {
	key string
	at  *int
} {
	return []struct {
		key string
		at  *int
	}{
		{"overlay.launch_samples", &c.LaunchSamples}, {"overlay.kernel_samples", &c.KernelSamples},
		{"overlay.event_samples", &c.WaitSamples}, {"overlay.sync_samples", &c.SyncSamples},
	}
}

const attrCarried = "overlay.carried_in"

// recordAttrs writes the record into attributes.
func recordAttrs(rec *cdg.Recorded) []Attr {
	attrs := []Attr{{Key: attrSlim, Int: 1}, {Key: attrCarried, Int: int64(rec.Window.CarriedIn)}}
	for _, f := range recordedInts(&rec.Cal) {
		attrs = append(attrs, Attr{Key: f.key, Int: *f.at})
	}
	for _, f := range recordedSamples(&rec.Cal) {
		attrs = append(attrs, Attr{Key: f.key, Int: int64(*f.at)})
	}
	return attrs
}

// ReadRecord returns the record of a slim trace; nil for every other trace.
func ReadRecord(tr *trace.Trace) *Record {
	number := func(key string) int64 {
		n, _ := tr.Attrs[key].AsInt()
		return n
	}
	if number(attrSlim) != 1 {
		return nil
	}
	r := &Record{Method: tr.Attrs[attrMethod].Text}
	r.Window = cdg.Window{Start: number(attrStart), End: number(attrEnd), CarriedIn: int(number(attrCarried)),
		Annotation: tr.Attrs[attrAnnotation].Text, Instance: tr.Attrs[attrInstance].Text}
	for _, f := range recordedInts(&r.Cal) {
		*f.at = number(f.key)
	}
	for _, f := range recordedSamples(&r.Cal) {
		*f.at = int(number(f.key))
	}
	if r.Window.End > r.Window.Start {
		return r
	}
	return nil
}
