package viewer

import (
	"slices"

	"overlay/internal/wire"
)

// sequence is the state of a packet sequence since it was last cleared.
type sequence struct {
	track   uint64
	clock   uint64
	strings [44]map[uint64]string // by field of InternedData
	specs   map[uint64]bool       // the kinds and queues that render stages refer to
}

// internedFields are the string fields of InternedData that we know.
var internedFields = [...]uint32{1, 2, 3, 29, 43}

// sequence applies flags, defaults and interned data, in this order.
func (rd *reader) sequence(seq, flags uint64, defaults, interned []byte) *sequence {
	if seq == 0 {
		return nil
	}
	if flags&1 != 0 {
		rd.states[seq] = &sequence{specs: map[uint64]bool{}}
	}
	s := rd.states[seq]
	if s == nil {
		if defaults != nil || interned != nil {
			rd.problem("interned_data_skipped_incremental_state_invalid")
		}
		return nil
	}
	wire.Each(defaults, func(f *wire.Fields) {
		switch f.Num {
		case 58:
			s.clock = f.V
		case 11:
			wire.Each(f.S, func(f *wire.Fields) {
				if f.Num == 11 {
					s.track = f.V
				}
			})
		}
	})
	if !wire.Each(interned, func(f *wire.Fields) { rd.internedString(s, f) }) {
		rd.problem("interned_data_tokenizer_errors")
	}
	return s
}

func (rd *reader) internedString(s *sequence, f *wire.Fields) {
	if f.Num == 24 {
		s.spec(f)
		return
	}
	if !slices.Contains(internedFields[:], f.Num) {
		return
	}
	var iid uint64
	var str []byte
	wire.Each(f.S, func(f *wire.Fields) {
		switch f.Num {
		case 1:
			iid = f.V
		case 2:
			str = f.S
		}
	})
	if iid == 0 {
		rd.problem("interned_data_tokenizer_errors")
		return
	}
	m := s.strings[f.Num]
	if m == nil {
		m = make(map[uint64]string)
		s.strings[f.Num] = m
	}
	if old, ok := m[iid]; ok {
		if old != string(str) { // the first one stays, without a word from Perfetto
			rd.problem("interned_id_reused")
		}
		return
	}
	m[iid] = string(str)
}
