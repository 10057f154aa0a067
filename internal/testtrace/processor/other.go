//go:build !unix

// Package processor tells tests how much processor time they took.
package processor

import "time"

var began = time.Now()

// Time is the time that has passed, where processor time is not at hand.
func Time() time.Duration { return time.Since(began) }
