package flame

// Side is one of two graphs that are compared: Of is by how much its times are divided, such as its number of steps.
type Side struct {
	*Graph
	Of int64
}

// Compare makes one graph of two, with the frames of both. A frame that only one of them has is called by what like makes of its name, so
// that one whose line has moved is the same. The times of each side sum to its path divided by Of, to the ns.
func Compare(before, after Side, like func(name string) string) *Graph {
	m := maker{index: map[place]int32{}, byName: map[string]int32{}}
	known := [2]map[string]bool{{}, {}}
	for i, x := range [2]Side{before, after} {
		for _, name := range x.frames {
			known[i][name] = true
		}
	}
	own := [2]map[int32]int64{{}, {}}
	for i, x := range [2]Side{before, after} {
		at, sum := make([]int32, len(x.nodes)), int64(0)
		for k, n := range x.nodes {
			name, parent := x.frames[n.frame], int32(-1)
			if !known[1-i][name] {
				name = like(name)
			}
			if n.parent >= 0 {
				parent = at[n.parent]
			}
			at[k] = m.below(parent, m.frame(name))
			m.nodes[at[k]].class = n.class
			own[i][at[k]] += (sum+n.ns)/x.Of - sum/x.Of // what is left of one goes to the next
			sum += n.ns
		}
	}
	m.before = make([]int64, len(m.nodes))
	for k := range m.nodes {
		m.before[k], m.nodes[k].ns = own[0][int32(k)], own[1][int32(k)]
	}
	return &m.Graph
}
