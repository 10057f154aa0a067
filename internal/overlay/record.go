package overlay

import (
	jsoniter "github.com/json-iterator/go"

	"overlay/internal/cdg"
	"overlay/internal/kineto"
)

// Record is what a slim trace says of the run that wrote it.
type Record struct {
	Method string
	cdg.Recorded
}

// attrSlim marks a slim trace; only then does a run take the rest of the record.
const attrSlim = "overlay.slim"

// recorded are the fields of the record beside method, window and annotation, which every overlay has.
func recordedInts(c *cdg.Delays) []struct {
	key string
	at  *int64
} {
	return []struct {
		key string
		at  *int64
	}{
		{"overlay.launch_min_ns", &c.Launch.Min}, {"overlay.launch_max_ns", &c.Launch.Max},
		{"overlay.kernel_min_ns", &c.Kernel.Min}, {"overlay.kernel_max_ns", &c.Kernel.Max},
		{"overlay.event_min_ns", &c.Event.Min}, {"overlay.event_max_ns", &c.Event.Max},
		{"overlay.sync_min_ns", &c.Sync.Min}, {"overlay.sync_max_ns", &c.Sync.Max},
	}
}

func recordedSamples(c *cdg.Delays) []struct {
	key string
	at  *int
} {
	return []struct {
		key string
		at  *int
	}{
		{"overlay.launch_samples", &c.Launch.Samples}, {"overlay.kernel_samples", &c.Kernel.Samples},
		{"overlay.event_samples", &c.Event.Samples}, {"overlay.sync_samples", &c.Sync.Samples},
	}
}

const attrCarried = "overlay.carried_in"

// recordAttrs writes the record into attributes.
func recordAttrs(rec *cdg.Recorded) []Attr {
	attrs := []Attr{{Key: attrSlim, Int: 1}, {Key: attrCarried, Int: int64(rec.Window.CarriedIn)}}
	for _, f := range recordedInts(&rec.Delays) {
		attrs = append(attrs, Attr{Key: f.key, Int: *f.at})
	}
	for _, f := range recordedSamples(&rec.Delays) {
		attrs = append(attrs, Attr{Key: f.key, Int: int64(*f.at)})
	}
	return attrs
}

// ReadRecord returns the record of a slim trace; nil for every other trace.
func ReadRecord(tr *kineto.Trace) *Record {
	for _, f := range tr.Fields {
		if f.Key != "metadata" {
			continue
		}
		meta := jsoniter.Get(tr.Src[f.Off : f.Off+f.Len])
		number := func(key string) int64 { return meta.Get(key).ToInt64() }
		if number(attrSlim) != 1 {
			continue
		}
		r := &Record{Method: meta.Get(attrMethod).ToString()}
		r.Window = cdg.Window{Start: number(attrStart), End: number(attrEnd), CarriedIn: int(number(attrCarried)),
			Annotation: meta.Get(attrAnnotation).ToString(), Instance: meta.Get(attrInstance).ToString()}
		for _, f := range recordedInts(&r.Delays) {
			*f.at = number(f.key)
		}
		for _, f := range recordedSamples(&r.Delays) {
			*f.at = int(number(f.key))
		}
		if r.Window.End > r.Window.Start {
			return r
		}
	}
	return nil
}
