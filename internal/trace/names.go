package trace

import (
	"strconv"
	"strings"
)

// TokenText is a pid or tid as it was written, without quotes.
func (t *Trace) TokenText(k Token) string { return strings.Trim(t.Syms[k.Raw], `"`) }

// StreamName names a row of a device: "stream 7".
func (t *Trace) StreamName(k *Track) string {
	number := t.TokenText(k.TID)
	if k.Stream >= 0 {
		number = strconv.FormatInt(k.Stream, 10)
	}
	return "stream " + strings.TrimPrefix(number, "stream ")
}

// DeviceName names a device with its number and model: "GPU 0 · NVIDIA H100 80GB HBM3", "MTIA 17".
func (t *Trace) DeviceName(p *Process) string {
	label := "GPU"
	if word, _, ok := strings.Cut(strings.TrimSpace(p.Labels), " "); ok && !strings.Contains(p.Labels, ",") {
		label = word // MTIA 17, XPU 0
	}
	name := label + " " + t.TokenText(p.PID)
	if p.Device >= 0 {
		name = label + " " + strconv.FormatInt(p.Device, 10)
	}
	if model := t.DeviceNames[p.Device]; model != "" {
		name += " · " + model
	}
	return name
}

// Brief cuts a text of a trace, which may be as long as its file, to what a message of one line can hold.
func Brief(s string) string {
	const most = 100
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}
