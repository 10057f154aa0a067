package buildinfo

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	for from, want := range map[string]string{"v1.2.3": "1.2.3", "v0.0.0-20260102030405-0123456789ab+dirty": "0.0.0-20260102030405-0123456789ab+dirty", "(devel)": "devel", "": "devel"} {
		if got := version(&debug.BuildInfo{Main: debug.Module{Version: from}}, true); got != want {
			t.Errorf("%q gives %q, want %q", from, got, want)
		}
	}
	if got := version(nil, false); got != "devel" {
		t.Errorf("no build info gives %q", got)
	}
}
