package ranks

import "testing"

// TestPlaces: both sides of a transfer say the same places and the same direction.
func TestPlaces(t *testing.T) {
	for name, want := range map[string]struct {
		between string
		up      bool
	}{"send 3->5": {"3 5", true}, "recv 5<-3": {"3 5", true}, "send 5->3": {"3 5", false}, "recv 3<-5": {"3 5", false}, "send": {}, "recv 3": {}, "all_to_all": {}, "send x->1": {}} {
		if between, up := places(name); between != want.between || up != want.up {
			t.Errorf("%s: %q, up %v", name, between, up)
		}
	}
}
