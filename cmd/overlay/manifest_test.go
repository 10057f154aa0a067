package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/viewer"
)

// TestManifest: an archive of a job has the traces of the ranks byte for byte, and its manifest puts each slice where the picture of the
// job has it, whether stamps count from 1970 or from nowhere.
func TestManifest(t *testing.T) {
	for i, trouble := range [][]string{{"windows", "bases"}, nil} {
		sim := testtrace.NewJob(testtrace.JobOptions{Kind: "dp", World: 4, PerHost: 2, Steps: 3, Seed: uint64(i), Noise: 1, Trouble: trouble})
		dir := t.TempDir()
		texts := map[string][]byte{}
		if err := os.Mkdir(filepath.Join(dir, "job"), 0o777); err != nil {
			t.Fatal(err)
		}
		for k := range sim.Ranks {
			text := sim.JSON(int32(k))
			texts[fmt.Sprintf("rank-%d.json", k)] = text
			path := filepath.Join(dir, "job", fmt.Sprintf("rank-%d.json", k))
			switch k {
			case 0:
				writeFile(t, path, text)
			case 1:
				writeFile(t, path+".gz", gzipped(t, text))
			case 2: // what stands between header and trailer is not one stream
				writeFile(t, path+".gz", append(gzipped(t, text[:len(text)/2]), gzipped(t, text[len(text)/2:])...))
			case 3: // the trailer tells the size of the whole text all the same
				writeFile(t, path+".gz", append(gzipped(t, nil), gzipped(t, text)...))
			}
		}
		made := func(name string) []byte {
			var errs bytes.Buffer
			name = filepath.Join(dir, name)
			if status := run([]string{"overlay", "run", "-i", filepath.Join(dir, "job"), "-o", name, "--quiet"}, nil, io.Discard, &errs); status != 0 {
				t.Fatalf("status %d: %s", status, errs.String())
			}
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		members := map[string][]byte{}
		for r := tar.NewReader(bytes.NewReader(made("job.tar"))); ; {
			h, err := r.Next()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if members[h.Name], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		sameZip(t, made("job.zip"), members, gzipped(t, texts["rank-1.json"]))
		picture, rows := imported(t, made("job.pftrace")), imported(t, members["job.pftrace"])
		there := map[string][]int64{} // when slices of a name begin
		for i := range picture.Slices {
			s := &picture.Slices[i]
			there[s.Name] = append(there[s.Name], s.TS)
		}
		within := func(name string, from, to int64) bool {
			return slices.ContainsFunc(there[name], func(at int64) bool { return from <= at && at <= to })
		}
		path, of := 0, map[string]int{}
		for i := range rows.Slices {
			if s := &rows.Slices[i]; !within(s.Name, s.TS, s.TS) {
				t.Errorf("the picture has no %s at %d", s.Name, s.TS)
			} else if s.Category == "critical_path" {
				path++
			}
		}
		if path < 20 {
			t.Errorf("%d segments of the path", path)
		}
		if !strings.HasPrefix(string(members["perfetto_manifest.json"]), `{"perfetto_manifest":{"version":1,"trace_time":{"file":"job.pftrace","clock":"BOOTTIME"},"files":[{"path":"job.pftrace","machine":{"name":"job"}},`) {
			t.Errorf("%.200s", members["perfetto_manifest.json"])
		}
		var m struct {
			Manifest struct {
				Files []manifestFile
			} `json:"perfetto_manifest"`
		}
		if err := json.Unmarshal(members["perfetto_manifest.json"], &m); err != nil || len(m.Manifest.Files) != 5 {
			t.Fatal(err, len(m.Manifest.Files))
		}
		for _, f := range m.Manifest.Files[1:] {
			if !bytes.Equal(members[f.Path], texts[f.Path]) || len(texts[f.Path]) == 0 {
				t.Errorf("%s: %d bytes of %d", f.Path, len(members[f.Path]), len(texts[f.Path]))
			}
			tr := testtrace.Parse(t, texts[f.Path])
			for _, e := range tr.Events {
				if e.Ph != 'X' {
					continue
				}
				of[f.Path]++
				if at := e.Start + f.Clocks.Offset; !within(tr.Str(e.Name), at-1000, at+1000) {
					t.Fatalf("%s: the picture has no %s near %d", f.Path, tr.Str(e.Name), at)
				}
			}
		}
		if len(of) != 4 {
			t.Errorf("%v", of)
		}
	}
}

// sameZip wants the members of a tar in a zip, one of them as it was packed, and in the headers what Perfetto's reader of zips takes (its
// zip_reader.cc): version 2.0, no flags but that of sizes behind the data, and these for deflate alone.
func sameZip(t *testing.T, b []byte, members map[string][]byte, packed []byte) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != len(members) {
		t.Errorf("%d members, and %d of the tar", len(z.File), len(members))
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, members[f.Name]) {
			t.Errorf("%s: %v, %d bytes of %d", f.Name, err, len(got), len(members[f.Name]))
		}
		if f.ReaderVersion > 20 || f.Flags&^8 != 0 || f.Method != zip.Deflate {
			t.Errorf("%s: version %d, flags %#x, method %d", f.Name, f.ReaderVersion, f.Flags, f.Method)
		}
		if f.Name != "rank-1.json" {
			continue
		}
		stored, err := f.OpenRaw()
		if err != nil {
			t.Fatal(err)
		}
		if raw, err := io.ReadAll(stored); err != nil || f.Flags != 0 || len(raw) < len(packed)/2 || !bytes.Contains(packed, raw) {
			t.Errorf("%s is not what the .gz holds: %v, flags %d, %d bytes of %d", f.Name, err, f.Flags, len(raw), len(packed))
		}
	}
}

func imported(t *testing.T, b []byte) *viewer.Imported {
	t.Helper()
	im, err := viewer.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if len(im.Problems) > 0 {
		t.Errorf("%v", im.Problems)
	}
	return im
}
