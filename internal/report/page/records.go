package page

import (
	"io"

	"overlay/internal/report"
)

// WriteRecords writes the page of a job of coarse records.
func WriteRecords(w io.Writer, r *report.RecordsReport) error {
	return write(w, "records", struct {
		Name, Title, Lead, Trust string
		Sections                 []report.Section
	}{r.Name(), r.Title(), r.Lead(), r.Trust(), r.Sections()})
}
