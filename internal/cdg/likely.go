package cdg

// usualRange is where a delay lies in most traces, ns. It counts as much as priorWeight samples.
type usualRange struct{ low, high int64 }

const priorWeight = 2

var (
	usualLaunch = usualRange{3000, 18_000}
	usualKernel = usualRange{600, 4000}
	usualEvent  = usualRange{800, 18_000}
)

// tail is the share of delays that lie outside of what was measured.
const tail = 0.02

// below is the share of delays of at most x.
func (d *Delay) below(x int64, usual usualRange) float64 {
	prior := share(x, usual.low, usual.high)
	n := float64(d.Samples)
	if d.Samples == 0 {
		return prior
	}
	s, last := &d.Spread, len(d.Spread)-1
	measured := 1.0
	switch {
	case x < s[0]:
		measured = 0
	case x < s[last]:
		i := 0
		for s[i+1] <= x {
			i++
		}
		measured = (float64(i) + share(x, s[i], s[i+1])) / float64(last)
	}
	return (n*measured + priorWeight*prior) / (n + priorWeight)
}

func share(x, low, high int64) float64 {
	switch {
	case x >= high:
		return 1
	case x <= low:
		return 0
	}
	return float64(x-low) / float64(high-low)
}

// density is how likely a delay of x is, a ns; grain is how exact times are.
func (d *Delay) density(x, grain int64, usual usualRange) float64 {
	width := usual.high - usual.low
	if d.Samples > 0 {
		width = d.Spread[14] - d.Spread[0]
	}
	h := max(width/5, grain, 200)
	return (1-tail)*(d.below(x+h, usual)-d.below(x-h-1, usual))/float64(2*h) + tail/200_000
}

// likely is a source of an operation with what is known of its delay.
type likely struct {
	wait  int   // an index into the waits of the operation
	took  int64 // from then to the start of the operation, ns
	delay *Delay
	usual usualRange
}

// likeliest returns the wait of an operation that was most likely satisfied last: its
// delay is a usual one, and all other waits would have been satisfied before. The second value is the least delay.
// It returns -1 where of one of them no spread is known: of launches of graphs and launches that are guessed, and of
// operations that overlap, and where a trace has too few samples.
func (b *builder) likeliest(k ActID, waits []Wait) (wait int, least int64) {
	d, start := b.d, b.d.Acts[k].Start
	var buf [8]likely
	list := buf[:0]
	for i := range waits {
		w := &waits[i]
		from := &d.Acts[w.From]
		if w.Rule != Launch && from.Start >= w.At {
			continue
		}
		c := likely{wait: i, took: start - w.At}
		switch {
		case w.Rule == StreamOrder && from.End <= start:
			c.delay, c.usual = &d.Delays.Kernel, usualKernel
		case w.Rule == EventWait && from.End <= start:
			c.delay, c.usual = &d.Delays.Event, usualEvent
		case w.Rule == Launch && w.Evidence == ByCorrelation && !b.graph[k]:
			c.delay, c.usual = &d.Delays.Launch, usualLaunch
		default:
			return -1, 0
		}
		if c.delay.Samples < enough || c.delay.Spread == (Spread{}) {
			return -1, 0 // too few to tell, or recorded by a run that did not measure it
		}
		list = append(list, c)
	}
	wait, most := -1, -1.0
	for i := range list {
		c := &list[i]
		score := c.delay.density(c.took, b.clockGrain, c.usual)
		for j := range list {
			if o := &list[j]; j != i {
				score *= tail + (1-tail)*o.delay.below(o.took+b.clockGrain-1, o.usual)
			}
		}
		if score > most {
			wait, least, most = c.wait, c.delay.Min, score
		}
	}
	return wait, least
}
