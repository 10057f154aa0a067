package page

import (
	"io"

	"overlay/internal/report"
)

// WriteRecords writes the page of a job of coarse records.
func WriteRecords(w io.Writer, r *report.RecordsReport) error { return write(w, "records", r) }
