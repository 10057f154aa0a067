package relations

import (
	"strconv"
	"strings"

	"overlay/internal/tables"
	"overlay/internal/trace"
)

// groupRanks has a row for each member of each process group of which the trace or one of its communication kernels
// names all. A list that was cut says nothing of where a group reaches.
func (m *maker) groupRanks() (int, []column) {
	type member struct {
		group       uint32
		peer, place int64
	}
	var rows []member
	known := map[uint32]bool{}
	collectives, texts := m.findCollectives()
	add := func(group uint32, list []int64, size int64) {
		if known[group] || len(list) == 0 || size > 0 && int64(len(list)) != size {
			return
		}
		known[group] = true
		for i, r := range list {
			rows = append(rows, member{group, r, int64(i)})
		}
	}
	for _, g := range m.tr.Distributed.Groups {
		if g.Name != "" {
			add(texts.add(g.Name), g.Ranks, g.Size)
		}
	}
	for _, c := range collectives {
		if c.group != noText && c.peers != noText {
			add(c.group, rankList(texts.list[c.peers]), c.ranks)
		}
	}
	return len(rows), []column{
		text("process_group", "name of the group", texts.data(func(i int) uint32 { return rows[i].group })),
		int32s("peer", tables.ID, "rank of a member", func(i int) int64 { return rows[i].peer }),
		int32s("place", tables.ID, "of the member in the group, from 0", func(i int) int64 { return rows[i].place }),
	}
}

// rankList reads a list such as "[0, 1, 2]"; nil of anything else, a cut list among it.
func rankList(s string) []int64 {
	s, opens := strings.CutPrefix(s, "[")
	s, closes := strings.CutSuffix(s, "]")
	if !opens || !closes {
		return nil
	}
	var list []int64
	for word := range strings.SplitSeq(s, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 32)
		if err != nil || n < 0 {
			return nil
		}
		list = append(list, n)
	}
	return list
}

// ownDevice is the device on which all operations of the window run, -1 for none and for several.
func (m *maker) ownDevice() int64 {
	device := int64(-1)
	for l := range m.g.Lanes {
		lane := &m.g.Lanes[l]
		if !lane.Stream || lane.First == lane.Limit || lane.Track == trace.NoTrack {
			continue
		}
		d := m.deviceOf(lane.Track)
		if device >= 0 && d != device {
			return -1
		}
		device = d
	}
	return device
}
