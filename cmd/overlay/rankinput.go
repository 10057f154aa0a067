package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"overlay/internal/kineto"
)

// rankInput is one trace of a job.
type rankInput struct {
	name string // of the file
	run  string // of the job
	rank int64
	peeked
}

// peeked is what the start of a trace says of itself.
type peeked struct {
	world  int64  // processes of the job, 0 when unknown
	host   string // "" when unknown
	format string
}

// rankInputs lists the traces that names stand for, files and folders of files, with the run and the rank of each. Two of
// one rank are refused before any of them is read.
func rankInputs(names []string, run string, rank int64) ([]rankInput, error) {
	var list []rankInput
	for _, name := range names {
		files, err := tracesAt(name)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			in := rankInput{name: f, run: run, rank: -1}
			if in.run == "" {
				in.run = folderName(f)
			}
			list = append(list, in)
		}
	}
	seen := map[string]string{}
	for i := range list {
		in := &list[i]
		in.rank, in.peeked = rankOf(in.name)
		switch {
		case rank >= 0 && len(list) > 1:
			return nil, fmt.Errorf("--rank %d is for one trace, and there are %d", rank, len(list))
		case rank >= 0:
			in.rank = rank
		case in.rank < 0:
			in.rank = int64(i)
		}
		key := in.run + "\x00" + strconv.FormatInt(in.rank, 10)
		if other, ok := seen[key]; ok {
			return nil, fmt.Errorf("%s and %s are both rank %d of run %s: give one of them by itself with --rank N, or another --run", other, in.name, in.rank, in.run)
		}
		seen[key] = in.name
	}
	return list, nil
}

// tracesAt lists a file, or the traces in a folder in the order of their names.
func tracesAt(name string) ([]string, error) {
	if name == "-" {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, inputError(name, err)
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, inputError(name, err)
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && isTraceName(e.Name()) {
			files = append(files, filepath.Join(name, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no traces (looked for *.json, *.json.gz, *.json.zst)", name)
	}
	slices.SortFunc(files, compareNumbers)
	return files, nil
}

func isTraceName(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst"), ".json") || strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".pftrace")
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
	inWorld    = regexp.MustCompile(`"distributedInfo"\s*:\s*\{[^{}]*?"world_size"\s*:\s*"?(\d+)`)
	inHost     = regexp.MustCompile(`"host_name"\s*:\s*"([^"\\]+)"`)
	peekLength = 256 << 10
)

// rankOf looks for the rank at the start of a trace, then in the name of its file; -1 is unknown.
func rankOf(name string) (rank int64, p peeked) {
	head := headOf(name)
	p.format = "kineto"
	if kineto.IsPerfetto(head) {
		p.format = "perfetto"
	}
	number := func(re *regexp.Regexp, text []byte) (int64, bool) {
		m := re.FindSubmatch(text)
		if m == nil {
			return 0, false
		}
		n, err := strconv.ParseInt(string(m[1]), 10, 32)
		return n, err == nil
	}
	p.world, _ = number(inWorld, head)
	if m := inHost.FindSubmatch(head); m != nil {
		p.host = string(m[1])
	}
	if n, ok := number(inHead, head); ok {
		return n, p
	}
	if n, ok := number(inName, []byte(filepath.Base(name))); ok {
		return n, p
	}
	return -1, p
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
	in := bufio.NewReader(f)
	magic, _ := in.Peek(16)
	var r io.Reader = in
	switch kineto.Sniff(magic) {
	case kineto.Gzip:
		if r, err = gzip.NewReader(in); err != nil {
			return nil
		}
	case kineto.Zstd:
		z, err := zstd.NewReader(in)
		if err != nil {
			return nil
		}
		defer z.Close()
		r = z
	}
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
