//go:build race

package kineto

// slower is what the race detector costs; limits on time are multiplied by it.
const slower = 10
