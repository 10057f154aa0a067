package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/kineto"
)

// rankInput is one trace of a job.
type rankInput struct {
	name   string // of the file
	run    string // of the job
	rank   int64
	format string

	archive *traceFile // that it lies in, nil of a file
	member  string     // its name there
}

// rankInputs lists the traces that names stand for, files and folders of files, with the run and the rank of each. Two of
// one rank are refused before any of them is read. Traces of an archive stay in its order, which is the only one in which they can
// be read.
func rankInputs(names []string, run string, rank, limit int64) ([]rankInput, error) {
	f, err := find(names)
	if err != nil {
		return nil, err
	}
	var list []rankInput
	for _, t := range f.traces {
		if t.archive != noArchive {
			members, err := archiveInputs(&t, run, limit)
			if err != nil {
				return nil, err
			}
			list = append(list, members...)
			continue
		}
		in := rankInput{name: t.path, run: run}
		if in.run == "" {
			in.run = folderName(t.path)
		}
		in.rank, in.format = rankOf(in.name, headOf(in.name))
		list = append(list, in)
	}
	if rank >= 0 && len(list) > 1 {
		return nil, fmt.Errorf("--rank %d is for one trace, and there are %d", rank, len(list))
	}
	slices.SortStableFunc(list, func(a, b rankInput) int { // places may become ranks
		if a.archive != nil && a.archive == b.archive {
			return 0
		}
		return compareNumbers(cmp.Or(a.archivePath(), a.name), cmp.Or(b.archivePath(), b.name))
	})
	known := map[string]bool{}
	for i := range list {
		in := &list[i]
		if rank >= 0 {
			in.rank = rank
		}
		known[in.key()] = true
		if in.rank >= 0 {
			if err := refuseTwice(list[:i+1]); err != nil {
				return nil, err
			}
		}
	}
	byName := make([]*rankInput, len(list))
	for i := range list {
		byName[i] = &list[i]
	}
	slices.SortStableFunc(byName, func(a, b *rankInput) int { return compareNumbers(a.name, b.name) })
	for _, in := range byName { // what says nothing takes the ranks that nobody claims
		if in.rank >= 0 {
			continue
		}
		for in.rank = 0; known[in.key()]; in.rank++ {
		}
		known[in.key()] = true
	}
	return list, nil
}

func (in *rankInput) archivePath() string {
	if in.archive == nil {
		return ""
	}
	return in.archive.path
}

func (in *rankInput) key() string { return in.run + "\x00" + strconv.FormatInt(in.rank, 10) }

// refuseTwice refuses the last of some inputs when another one claims its rank.
func refuseTwice(list []rankInput) error {
	in := &list[len(list)-1]
	for i := range list[:len(list)-1] {
		if x := &list[i]; x.run == in.run && x.rank == in.rank {
			return fmt.Errorf("%s and %s are both rank %d of run %s: give one of them by itself with --rank N, or another --run", x.name, in.name, in.rank, in.run)
		}
	}
	return nil
}

var digits = regexp.MustCompile(`\d+|\D+`)

// compareNumbers orders names as people do: rank-2 before rank-10.
func compareNumbers(a, b string) int {
	x, y := digits.FindAllString(a, -1), digits.FindAllString(b, -1)
	return slices.CompareFunc(x, y, func(s, t string) int {
		n, errN := strconv.ParseUint(s, 10, 64)
		m, errM := strconv.ParseUint(t, 10, 64)
		if errN == nil && errM == nil && n != m {
			if n < m {
				return -1
			}
			return 1
		}
		return strings.Compare(s, t)
	})
}

// folderName names the folder in which a file lies.
func folderName(file string) string {
	if abs, err := filepath.Abs(file); err == nil && file != "-" {
		if base := filepath.Base(filepath.Dir(abs)); base != string(filepath.Separator) && base != "." {
			return base
		}
	}
	return "run"
}

var (
	inName     = regexp.MustCompile(`(?i)(?:rank|worker|gpu)[-_. ]?(\d+)`)
	inHead     = regexp.MustCompile(`"distributedInfo"\s*:\s*\{[^{}]*?"rank"\s*:\s*"?(\d+)`)
	peekLength = 256 << 10
)

// rankOf looks for the rank at the start of a trace, then in the name of its file; -1 is unknown.
func rankOf(name string, head []byte) (rank int64, format string) {
	format = "kineto"
	if kineto.IsPerfetto(head) {
		format = "perfetto"
	}
	for _, m := range [][][]byte{inHead.FindSubmatch(head), inName.FindSubmatch([]byte(filepath.Base(name)))} {
		if m == nil {
			continue
		}
		if n, err := strconv.ParseInt(string(m[1]), 10, 32); err == nil {
			return n, format
		}
	}
	return -1, format
}

// headOf is the first part of a file, decompressed; nothing of what cannot be read, which loading will say.
func headOf(name string) []byte {
	if name == "-" {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return headIn(f)
}

// headIn is the same of a stream.
func headIn(from io.Reader) []byte {
	r, err := expand(from)
	if err != nil {
		return nil
	}
	defer r.Close()
	var b bytes.Buffer
	io.CopyN(&b, r, int64(peekLength))
	return b.Bytes()
}

// partition is the folder of a run and a rank, as engines read it: key=value, with what they do not take escaped.
func partition(run string, rank int64) string {
	return filepath.Join("run="+escapePartition(run), "rank="+strconv.FormatInt(rank, 10))
}

func escapePartition(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"#%'*/:=?\{}[]^`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unescapePartition(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// exportedSet is a folder of one rank in a folder that export has written.
type exportedSet struct {
	run  string
	rank int64
	path string
}

// exportedSets lists the sets of a folder that export has written; none of any other file or folder.
func exportedSets(dir string) []exportedSet {
	var list []exportedSet
	runs, _ := filepath.Glob(filepath.Join(globEscape(dir), "run=*", "rank=*"))
	for _, path := range runs {
		rank, err := strconv.ParseInt(strings.TrimPrefix(filepath.Base(path), "rank="), 10, 64)
		if err != nil {
			continue
		}
		run := strings.TrimPrefix(filepath.Base(filepath.Dir(path)), "run=")
		list = append(list, exportedSet{unescapePartition(run), rank, path})
	}
	slices.SortFunc(list, func(a, b exportedSet) int { return compareNumbers(a.path, b.path) })
	return list
}

// globEscape makes a name match itself only.
func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}
