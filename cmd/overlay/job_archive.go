package main

import (
	"archive/tar"
	"archive/zip"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/flate"

	"overlay/internal/inputs"
)

// archive takes the files of a job. source is the file that a text was read from, "" for what was made here.
type archive interface {
	add(name string, size int64, b io.WriterTo, source string) error
	io.Closer
}

// newArchive is an archive as the viewer reads it: a tar, or a zip (perfetto.dev/docs/reference/perfetto-manifest).
func newArchive(w io.Writer, zipped bool) archive {
	if !zipped {
		return tarArchive{tar.NewWriter(w)}
	}
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 6) })
	return zipArchive{z}
}

type tarArchive struct{ *tar.Writer }

func (t tarArchive) add(name string, size int64, b io.WriterTo, _ string) error {
	err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size, Format: tar.FormatPAX})
	if err == nil {
		_, err = b.WriteTo(t)
	}
	return err
}

type zipArchive struct{ *zip.Writer }

// add copies what a .gz file of the text holds, which a zip has in the same form, and compresses any other text.
func (z zipArchive) add(name string, size int64, b io.WriterTo, source string) error {
	if size > math.MaxUint32 { // the viewer knows no zip64
		return fmt.Errorf("%s has 4 GiB or more, which the viewer does not read in a zip: name the output .tar", name)
	}
	copied, err := inputs.Deflated(source, size, func(packed io.Reader, n int64, sum uint32) error {
		w, err := z.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, CRC32: sum, CompressedSize64: uint64(n), UncompressedSize64: uint64(size)})
		if err == nil {
			_, err = io.Copy(w, packed)
		}
		return err
	})
	if copied || err != nil {
		return err
	}
	w, err := z.Create(name)
	if err == nil {
		_, err = b.WriteTo(w)
	}
	return err
}
