package inputs

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"overlay/internal/flights"
	"overlay/internal/fromflights"
	"overlay/internal/fromsnapshot"
	"overlay/internal/memory"
	"overlay/internal/report"
)

// dumpName is in the names that PyTorch gives to dumps of the flight recorder.
const dumpName = "trace_rank_"

// Dumps reads the dumps of flight recorders that inputs name, files or folders of them, and gives the inputs that are anything else; without a dump these are all. A file is
// looked into where its name is one that PyTorch gives, where it comes first, or behind a dump.
func Dumps(names []string) (dumps []*flights.Dump, rest []string, err error) {
	for i, input := range names {
		list, err := Disk.ReadDir(input)
		files, before := []string{input}, len(dumps)
		if err == nil {
			files = nil
		}
		for _, e := range list {
			if !strings.HasPrefix(e.Name(), ".") && e.Type().IsRegular() {
				files = append(files, filepath.Join(input, e.Name()))
			}
		}
		for k, name := range files {
			if i+k > 0 && len(dumps) == 0 && !strings.Contains(filepath.Base(name), dumpName) {
				continue
			}
			src, err := dump(name)
			if err != nil {
				return nil, nil, Error(name, err)
			}
			if src == nil {
				continue
			}
			rank, ok := fromflights.RankOf(filepath.Base(name))
			if !ok {
				return nil, nil, fmt.Errorf("%s: a dump of a flight recorder, and its name does not end with its rank, as in trace_rank_7", report.Plain(name))
			}
			d, err := fromflights.Parse(src, rank)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", report.Plain(name), err)
			}
			dumps = append(dumps, d)
		}
		if len(dumps) == before {
			rest = append(rest, input)
		}
	}
	return dumps, rest, nil
}

// Snapshot reads a memory snapshot.
func Snapshot(name string) (*memory.Snapshot, error) {
	f, err := Disk.Open(name)
	if err != nil {
		return nil, Error(name, err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, fromsnapshot.MostBytes+1))
	if err == nil && len(src) > fromsnapshot.MostBytes {
		err = fmt.Errorf("more than %d bytes: record less of it (max_entries)", fromsnapshot.MostBytes)
	}
	var s *memory.Snapshot
	if err == nil {
		s, err = fromsnapshot.Parse(src)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", report.Plain(name), err)
	}
	return s, nil
}

// dump is the content of a file that is a dump, else nil.
func dump(name string) ([]byte, error) {
	info, err := Disk.Stat(name)
	if name == "-" || err != nil || !info.Mode().IsRegular() { // whoever reads it says so
		return nil, nil
	}
	f, err := Disk.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF || !fromflights.Is(head[:n]) {
		return nil, nil
	}
	src, err := io.ReadAll(io.LimitReader(f, fromflights.MostBytes))
	return append(head[:n], src...), err
}
