package kineto

import (
	"strings"
	"testing"
)

// TestErrorIsShort: an error stays a line that people read, however long the key is where it happened.
func TestErrorIsShort(t *testing.T) {
	key := strings.Repeat("é", 2000)
	_, err := Parse([]byte(`{"s": 1, "`+key+`": [1}`), "a.json", Options{})
	if err == nil || len(err.Error()) > 300 || !strings.HasPrefix(err.Error(), `a.json: byte 4013: /`+key[:40]) || !strings.HasSuffix(err.Error(), "…: expected a JSON value") {
		t.Errorf("%v", err)
	}
}
