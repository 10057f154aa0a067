package kineto

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/trace"
)

// SyntaxError says where reading could not go on and what was expected there.
type SyntaxError struct {
	File       string
	Offset     int64  // byte of the (decompressed) input; -1 when there is none
	Compressed int64  // byte of the compressed file that was being read; -1 for plain input
	Pointer    string // JSON pointer of the value, "" at the top
	Want       string // what was expected, or what is wrong and what to do
	Cause      error  // nil, or what Want says in words
}

func (e *SyntaxError) Unwrap() error { return e.Cause }

// TooMuch is that a file becomes more than it may, as a Sink or a Meter says.
func TooMuch(name string, cause error) error {
	return &SyntaxError{File: name, Offset: -1, Compressed: -1, Want: cause.Error(), Cause: cause}
}

func (e *SyntaxError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Offset >= 0 {
		fmt.Fprintf(&b, ": byte %d", e.Offset)
		if e.Compressed >= 0 {
			fmt.Fprintf(&b, " (byte %d of the compressed file)", e.Compressed)
		}
	}
	if e.Pointer != "" {
		fmt.Fprintf(&b, ": %s", trace.Brief(e.Pointer))
	}
	b.WriteString(": ")
	b.WriteString(e.Want)
	return b.String()
}

// The reasons of repairs.
const (
	RepairNumberString = "number_as_string"
	RepairBareWord     = "bare_word"         // N/A, nan, inf, Infinity where a value should be
	RepairControl      = "control_character" // raw bytes below 0x20 in a string
	RepairUTF8         = "invalid_utf8"
	RepairQuote        = "unescaped_quote"
	RepairEscape       = "bad_escape"
	RepairComma        = "trailing_comma"
	RepairTruncated    = "truncated"
	RepairNoDur        = "complete_without_dur"
	RepairNegativeDur  = "negative_dur"
	RepairNoTS         = "no_ts"
	RepairTS0          = "ts_0" // before the base, or unknown
	RepairBroken       = "broken_event"
	RepairNoObject     = "not_an_object"
	RepairBigNumber    = "number_out_of_range"
	RepairUnpadded     = "unpadded_fraction"
	RepairTopLevel     = "broken_top_level"
	RepairCategories   = "too_many_categories"
	RepairTrailing     = "trailing_bytes"    // something behind the end of the document, which is not read
	RepairSecondList   = "second_event_list" // another traceEvents, which is not read
)

// repairs counts by reason; reasons are few, so a list will do.
type repairs []trace.Repair

func (r *repairs) add(more ...trace.Repair) {
	for _, x := range more {
		i := slices.IndexFunc(*r, func(y trace.Repair) bool { return y.Reason == x.Reason })
		if i < 0 {
			*r = append(*r, x)
			continue
		}
		y := &(*r)[i]
		y.Count += x.Count
		y.First = append(y.First, x.First...)
		y.First = y.First[:min(len(y.First), keptPerRepair)]
	}
}
