package pathcheck

import (
	"fmt"

	"overlay/internal/trace"
)

// trackText names a track by its ids: "7/7" for a stream of device 7, "100/101" for a thread.
func trackText(tr *trace.Trace, t trace.TrackID) string {
	if t == trace.NoTrack {
		return "-"
	}
	pid := trace.Token{}
	if p := tr.Tracks[t].Proc; p != trace.NoProc {
		pid = tr.Procs[p].PID
	}
	return tokenText(tr, pid) + "/" + tokenText(tr, tr.Tracks[t].TID)
}

func tokenText(tr *trace.Trace, t trace.Token) string {
	if t.IsNum {
		return fmt.Sprint(t.Num)
	}
	return tr.Str(t.Raw)
}
