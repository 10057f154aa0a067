//go:build !quick

package fromrecords

import (
	"bytes"

	"overlay/internal/parquetfile"
)

func (r *reader) parquet(src []byte) error {
	return parquetfile.Rows(bytes.NewReader(src), int64(len(src)), r.pick, r.add)
}
