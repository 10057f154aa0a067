package kineto

import "overlay/internal/trace"

// distributed reads what PyTorch writes of the job into distributedInfo: the number of processes and, since 2024, some
// of the process groups. Kineto's own form, written for captures on demand, has the ranks of a group as a text.
func (t *draft) distributed(v []byte) {
	if n, ok := argInt(v, "world_size"); ok && n > 0 {
		t.Distributed.World = n
	}
	t.Distributed.Groups = nil
	Elements(arg(v, "pg_config"), func(raw []byte) {
		g := trace.ProcessGroup{Size: -1}
		g.Name, _ = argString(raw, "pg_name")
		g.Desc, _ = argString(raw, "pg_desc")
		if n, ok := argInt(raw, "pg_size"); ok {
			g.Size = n
		}
		if list, ok := argString(raw, "ranks"); ok {
			g.Ranks = trace.Ranks(list)
		}
		if g.Name != "" {
			t.Distributed.Groups = append(t.Distributed.Groups, g)
		}
	})
}
