package report

import (
	"strings"

	"overlay/internal/analyses"
)

// analyses prints the sections that were asked for, a few lines each.
func (t *text) analyses(r *Report) {
	a := r.Analyses
	if a == nil {
		return
	}
	title := func(s string) {
		t.line("")
		t.line("%s", t.bold(s))
	}
	if a.Temporal != nil {
		title("temporal: what each GPU did")
		for _, d := range a.Temporal {
			t.line("  GPU %-3d %11s  computation %s, communication %s, copies %s, idle %s", d.Device, MS(d.Span), Percent(share(d.Computation, d.Span)),
				Percent(share(d.Communication, d.Span)), Percent(share(d.Copies, d.Span)), Percent(share(d.Idle, d.Span)))
		}
	}
	if a.Idle != nil {
		title("idle: why streams had nothing to do")
		for _, s := range a.Idle {
			t.line("  GPU %d stream %-4d %11s  %s", s.Device, s.Stream, MS(s.Idle), causesText(s.Causes))
		}
	}
	if a.Overlap != nil {
		title("overlap: communication hidden by computation")
		for _, o := range a.Overlap {
			t.line("  GPU %-3d %8s of %s hidden, %s exposed", o.Device, Percent(o.Ratio), MS(o.Communication), MS(o.Exposed))
		}
	}
	if a.Queue != nil {
		title("queue: operations launched and not ended")
		for _, q := range a.Queue {
			t.line("  GPU %d stream %-4d mean %8.1f, most %6.0f, %s at the limit, %d calls blocked", q.Device, q.Stream, q.Outstanding.Mean, q.Outstanding.Max, MS(q.AtLimit), q.Blocked)
		}
	}
	if c := a.Copies; c != nil {
		title("copies")
		for _, k := range c.Kinds {
			t.line("  %-12s %7s × %11s %10.2f MB %9.2f GB/s", plain(k.Kind), group(int64(k.Count)), MS(k.NS), float64(k.Bytes)/1e6, k.GBs)
		}
		for _, m := range c.Memory {
			t.line("  memory %-5s most %.1f MB allocated, %.1f MB reserved", plain(m.Device), float64(m.Peak)/1e6, float64(m.Reserved)/1e6)
		}
	}
	if l := a.Launch; l != nil {
		title("launch: calls and what they launched")
		t.line("  %s pairs; call %s, operation %s, delay %s (means)", group(int64(l.Pairs)), MS(int64(l.CPU.Mean)), MS(int64(l.GPU.Mean)), MS(int64(l.Delay.Mean)))
		t.line("  %s kernels shorter than their call, %s calls over 50 µs, %s delays over 100 µs", group(int64(l.ShortKernels)), group(int64(l.RuntimeOutliers)), group(int64(l.DelayOutliers)))
	}
	t.moreAnalyses(r, title)
}

func (t *text) moreAnalyses(r *Report, title func(string)) {
	a := r.Analyses
	seq := func(kernels []string) string {
		short := make([]string, len(kernels))
		for i, k := range kernels {
			short[i] = Readable(k)
		}
		return strings.Join(short, " → ")
	}
	if a.Sequences != nil {
		title("sequences: kernels that operators launch together")
		for _, s := range a.Sequences {
			t.line("  %7s × %11s critical  %s", group(int64(s.Count)), MS(s.Critical), Shorten(plain(s.Operator+": "+seq(s.Kernels)), t.width-36))
		}
	}
	if a.Operators != nil {
		title("operators: delay to the launch, and from there to the kernel")
		for _, o := range a.Operators {
			t.line("  %7s × %10s %11s  %s", group(int64(o.Count)), MS(int64(o.LaunchDelay)), MS(int64(o.KernelDelay)), Shorten(plain(o.Operator+": "+seq(o.Kernels)), t.width-38))
		}
	}
	if a.Component != nil {
		title("component: who worked alone: computation, communication, host; or together")
		for _, c := range a.Component {
			mark := ""
			if c.Low {
				mark = "  low overlap"
			}
			t.line("  %-18s overlap %s, comp %s, comm %s, host %s, free %s%s", Shorten(plain(c.Step), 18), Percent(c.Ratio), Percent(share(c.Computation, c.Duration)),
				Percent(share(c.Communication, c.Duration)), Percent(share(c.Host, c.Duration)), Percent(share(c.Free, c.Duration)), mark)
		}
	}
	if a.Kernels != nil {
		title("kernels by type")
		for _, k := range a.Kernels {
			t.line("  %-14s %8s %11s", k.Type, Percent(k.Share), MS(k.NS))
			for i, n := range k.Names {
				if i == 3 {
					break
				}
				t.line("    %7s × %11s  %s", group(int64(n.Stats.Count)), MS(int64(n.Stats.Sum)), Shorten(plain(Readable(n.Name)), t.width-30))
			}
		}
	}
	if a.Annotations != nil {
		title("annotations")
		for i, n := range a.Annotations {
			if i == 10 {
				break
			}
			where := "CPU"
			if n.GPU {
				where = "GPU"
			}
			t.line("  %s %7s × %11s  %s", where, group(int64(n.Stats.Count)), MS(int64(n.Stats.Sum)), Shorten(plain(n.Name), t.width-32))
		}
	}
	if a.Blocking != nil {
		title("blocking calls")
		for _, b := range a.Blocking {
			t.line("  %7s × %11s, %d waited %s  %s", group(int64(b.Count)), MS(b.NS), b.Waited, MS(b.WaitNS), Shorten(plain(b.Call+" in "+b.Operator), t.width-48))
			if b.Hint != "" {
				t.line("            %s", Shorten(b.Hint, t.width-12))
			}
		}
	}
}

func causesText(causes []analyses.CauseTime) string {
	var parts []string
	for _, c := range causes {
		if c.NS > 0 {
			parts = append(parts, strings.ReplaceAll(c.Cause, "_", " ")+" "+Percent(c.Share))
		}
	}
	return strings.Join(parts, ", ")
}
