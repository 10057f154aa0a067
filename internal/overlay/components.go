package overlay

// components is a union-find over events that counts the arrows of each component.
type components []int32 // parent + 1; of a root: 0 - arrows

func newComponents(n int) components { return make(components, n) }

func (u components) root(x int32) int32 {
	for u[x] > 0 {
		if y := u[x] - 1; u[y] > 0 {
			u[x] = u[y]
		}
		x = u[x] - 1
	}
	return x
}

func (u components) join(x, y int32) {
	x, y = u.root(x), u.root(y)
	n := 1 - u[x]
	if x != y {
		n -= u[y]
		if u[x] > u[y] {
			x, y = y, x // the larger one is the root
		}
		u[y] = x + 1
	}
	u[x] = -n
}

// fits reports whether an arrow from x to y makes no component of more than limit arrows out of two that were none. An
// arrow inside a component always fits: without it the component would stay in one piece.
func (u components) fits(x, y, limit int32) bool {
	x, y = u.root(x), u.root(y)
	return x == y || 1-u[x]-u[y] <= limit
}
