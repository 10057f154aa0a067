//go:build !race

package kineto

const slower = 1
