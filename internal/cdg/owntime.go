package cdg

// ownQuantile is the quantile of the times that threads spend in annotations and frames between two borders that stands
// for such a time around a hand-off. Those pieces are longer than most: on recorded traces the median of pieces beside
// the border of an annotation, where one phase of the work ends and another begins, is close to this quantile of all.
const ownQuantile = 0.75

// measureOwnTime measures how long threads stay in an annotation or a frame between two borders when they do not wait,
// where there is a hand-off that asks for it.
func (b *builder) measureOwnTime() {
	d := b.d
	if b.o.Recorded != nil || d.Threads != ThreadsGIL || !b.handsOver() {
		return
	}
	var own []int64
	for l := range d.Lanes {
		for i := int(d.PieceFirst[l]); i+1 < int(d.PieceFirst[l+1]); i++ {
			if a := d.Pieces[i].Owner; a != NoAct && d.Pieces[i+1].Begun == NoWait && d.Marker(a) && !d.WaitsForLoader(a) {
				own = append(own, d.Pieces[i+1].Start-d.Pieces[i].Start)
			}
		}
	}
	if len(own) >= enough {
		d.Delays.Own = quantile(own, ownQuantile)
	}
}

// handsOver reports whether any thread waited for another: hand-offs are among the waits of threads, which come last.
func (b *builder) handsOver() bool {
	for i := len(b.d.Waits) - 1; i >= int(b.d.First[len(b.d.Acts)]); i-- {
		if b.d.Waits[i].Rule == Handoff {
			return true
		}
	}
	return false
}
