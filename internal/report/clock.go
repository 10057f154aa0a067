package report

import (
	"fmt"

	"overlay/internal/clock"
	"overlay/internal/tables"
)

// Clock is a stretch of the trace in which the clock of a device was off against that of the host, and was corrected for the analysis.
type Clock struct {
	Device int64  `json:"device" unit:"id"`
	Start  int64  `json:"start_ns" unit:"time" about:"of the first operation that was moved, as recorded"`
	End    int64  `json:"end_ns" unit:"time" about:"behind the last one"`
	By     int64  `json:"correction_ns" unit:"change" about:"added to the times of operations at the start"`
	ByEnd  int64  `json:"correction_at_end_ns" unit:"change" about:"and at the end: another where the clock drifts"`
	Error  int64  `json:"error_ns" unit:"ns" about:"by which the correction may be wrong, either way"`
	Launch *int64 `json:"least_launch_ns" unit:"change" about:"as recorded: least time from a launch call to its operation; nothing where there is none"`
	Return *int64 `json:"least_return_ns" unit:"change" about:"as recorded: least time from the end of an operation to the return of a call that waited for it; nothing where there is none"`
}

// ClocksOf are corrections as a report has them.
func ClocksOf(list []clock.Correction) (out []Clock) {
	witness := func(ns int64) *int64 {
		if ns == clock.NoWitness {
			return nil
		}
		return &ns
	}
	for i := range list {
		c := &list[i]
		out = append(out, Clock{c.Device, c.From, c.To, c.At(c.From), c.At(c.To), c.Error, witness(c.Launch), witness(c.Return)})
	}
	return out
}

// Corrected says in words what was done, and when: counted from a time.
func (c *Clock) Corrected(since int64) string {
	by := tables.Signed(c.By)
	if c.ByEnd != c.By {
		by += " to " + tables.Signed(c.ByEnd)
	}
	var why string
	switch {
	case c.Return != nil && *c.Return < 0:
		why = "calls return up to " + tables.Duration(-*c.Return) + " before the recorded end of what they wait for"
	case c.Launch != nil && *c.Launch < 0:
		why = "operations begin up to " + tables.Duration(-*c.Launch) + " before their launch"
	default:
		why = "no call returns as soon after the end of what it waits for as operations begin after their launch, or the other way round"
	}
	return fmt.Sprintf("GPU clock corrected by %s (± %s) on GPU %d, from %s to %s: %s", by, tables.Duration(c.Error), c.Device,
		tables.Duration(max(c.Start-since, 0)), tables.Duration(c.End-since), why)
}
