package cdg

var copiesRule = rule{name: "copies", find: (*builder).copyWaits}

// copyWaits lets a copy call wait for its own copy: when it is not asynchronous, or one side is pageable memory. Where
// the kinds of memory are not known, the call waited exactly when it did not return before its copy ended; where they
// are, that is a check.
func (b *builder) copyWaits() {
	d := b.d
	for a := b.firstOp; int(a) < len(d.Acts); a++ {
		call := b.launch[a]
		if call == NoAct {
			continue
		}
		class := b.class(call)
		if class != blockingCopy && class != asyncCopy {
			continue
		}
		op, c := &d.Acts[a], &d.Acts[call]
		waited, by := op.End <= c.End+2*us, ByAPI
		if class == asyncCopy {
			kind := b.calls[b.event(a).Name]
			switch kind {
			case waitedCopy:
				// As CUDA documents, whatever the clock of the device shows; a call that is shorter than its copy did not wait.
				waited = waited || c.End-c.Start >= op.End-op.Start
			case stagedCopy:
			case unknownCopy:
				waited, by = op.End <= c.End, ByAlignment
			default:
				waited = false
			}
			if kind == waitedCopy && !waited || kind == unwaited && op.End <= c.End {
				b.quality["copy_kind_against_times"]++
			}
		}
		if waited && op.End > c.Start && op.Start < c.End {
			b.add(call, a, Sync, by)
		}
	}
}
