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

// Dumps reads the dumps of flight recorders that inputs name, files or folders of them; none where the inputs are anything else. A file is looked into
// where its name is one that PyTorch gives, where it comes first, or behind a dump.
func Dumps(names []string) ([]*flights.Dump, error) {
	var files []string
	named := map[string]bool{}
	for _, name := range names {
		list, err := Disk.ReadDir(name)
		if err != nil {
			files, named[name] = append(files, name), true
			continue
		}
		for _, e := range list {
			if !strings.HasPrefix(e.Name(), ".") && e.Type().IsRegular() {
				files = append(files, filepath.Join(name, e.Name()))
			}
		}
	}
	var dumps []*flights.Dump
	var other string // it is named, and no dump
	for i, name := range files {
		if i > 0 && len(dumps) == 0 && !strings.Contains(filepath.Base(name), "trace_rank_") {
			continue
		}
		src, err := dump(name)
		if err != nil {
			return nil, Error(name, err)
		}
		if src == nil {
			if named[name] {
				other = name
			}
			continue
		}
		rank, ok := fromflights.RankOf(filepath.Base(name))
		if !ok {
			return nil, fmt.Errorf("%s: a dump of a flight recorder, and its name does not end with its rank, as in trace_rank_7", report.Plain(name))
		}
		d, err := fromflights.Parse(src, rank)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", report.Plain(name), err)
		}
		dumps = append(dumps, d)
	}
	if len(dumps) > 0 && other != "" {
		return nil, fmt.Errorf("%s: no dump of a flight recorder, as the other files are: leave it out", report.Plain(other))
	}
	return dumps, nil
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
