//go:build !unix

package kineto

import (
	"testing"
	"time"
)

var began = time.Now()

// processor is the time that has passed, where processor time is not at hand.
func processor(testing.TB) time.Duration { return time.Since(began) }
