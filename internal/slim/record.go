package slim

import (
	"overlay/internal/cdg"
	"overlay/internal/overlay"
	"overlay/internal/trace"
)

// Record is what a slim trace says of the run that wrote it.
type Record struct {
	Method string
	cdg.Recorded
}

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

// Attrs writes the record into attributes.
func Attrs(rec *cdg.Recorded) []overlay.Attr {
	attrs := []overlay.Attr{{Key: overlay.AttrSlim, Int: 1}, {Key: overlay.AttrCarried, Int: int64(rec.Window.CarriedIn)}}
	for _, f := range recordedInts(&rec.Cal) {
		attrs = append(attrs, overlay.Attr{Key: f.key, Int: *f.at})
	}
	for _, f := range recordedSamples(&rec.Cal) {
		attrs = append(attrs, overlay.Attr{Key: f.key, Int: int64(*f.at)})
	}
	return attrs
}

// ReadRecord returns the record of a slim trace; nil for every other trace.
func ReadRecord(tr *trace.Trace) *Record {
	number := func(key string) int64 {
		n, _ := tr.Attrs[key].AsInt()
		return n
	}
	if number(overlay.AttrSlim) != 1 {
		return nil
	}
	r := &Record{Method: tr.Attrs[overlay.AttrMethod].Text}
	r.Window = cdg.Window{Start: number(overlay.AttrStart), End: number(overlay.AttrEnd), CarriedIn: int(number(overlay.AttrCarried)),
		Annotation: tr.Attrs[overlay.AttrAnnotation].Text, Instance: tr.Attrs[overlay.AttrInstance].Text}
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
