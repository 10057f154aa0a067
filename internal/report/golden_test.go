package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"overlay/internal/advise"
	"overlay/internal/analyses"
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/critpath/hta"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

var update = flag.Bool("update", false, "rewrite golden files")

// loaderTrace is a step in which a data loader resizes images in Python before one kernel runs.
func loaderTrace(t *testing.T) *trace.Trace {
	b := testtrace.New()
	main, stream := b.Thread(100, 100, "python"), b.Stream(0, 7)
	main.Annotation("ProfilerStep#5", 0, 1_000_000)
	main.Frame("train.py(12): train", 0, 1_000_000)
	main.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10_000, 300_000)
	main.Frame("data.py(7): __getitem__", 20_000, 270_000)
	main.Frame("<built-in method resize of ImagingCore object at 0x7f12ab>", 40_000, 220_000)
	main.Op("aten::linear", 400_000, 60_000)
	main.Launch("cudaLaunchKernel", 420_000, 8_000, 1)
	stream.Kernel("void gemm<float, 128>(float*)", 430_000, 350_000, 1)
	main.Call("cudaDeviceSynchronize", 500_000, 285_000, 2)
	return b.Parse(t)
}

// streamsTrace is two streams of which one waits for the other, twice, between steps.
func streamsTrace(t *testing.T) *trace.Trace {
	b := testtrace.New()
	main, compute, comm := b.Thread(100, 100, "python"), b.Stream(0, 7), b.Stream(0, 20)
	for i := range int64(2) {
		at, c := i*1_000_000, 10*i
		main.Annotation([]string{"ProfilerStep#0", "ProfilerStep#1"}[i], at, 990_000)
		main.Launch("cudaLaunchKernel", at+10_000, 6_000, c+1)
		compute.Kernel("gemm", at+20_000, 200_000, c+1)
		main.Call("cudaEventRecord", at+18_000, 2_000, c+2)
		main.Call("cudaStreamWaitEvent", at+22_000, 2_000, c+3)
		main.Launch("cudaLaunchKernel", at+26_000, 6_000, c+4)
		comm.Kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", at+222_000, 500_000, c+4)
		main.Call("cudaStreamSynchronize", at+40_000, 690_000, c+5)
	}
	return b.Parse(t)
}

func ownTraces(t *testing.T) map[string]*trace.Trace {
	f, err := os.Open(demo)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := kineto.Read(f, "demo.json.gz", kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*trace.Trace{"demo": d, "loader": loaderTrace(t), "streams": streamsTrace(t)}
}

// reports makes the report of a trace by each method.
func reports(t *testing.T, name string, tr *trace.Trace, segments bool) map[string]*Report {
	g, err := graph.Build(tr, cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	exact, err := critpath.Exact(g)
	if err != nil {
		t.Fatal(err)
	}
	ctda, err := critpath.CTDA(g)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]*critpath.Path{"exact": exact, "ctda": ctda}
	if h, err := hta.Find(tr, hta.Options{First: -1}); err == nil {
		paths["hta"] = h.AsPath()
	}
	out := map[string]*Report{}
	for method, p := range paths {
		m := whatif.New(g)
		s := Source{Name: name, Version: "test", Graph: g, Path: p, Segments: segments, Model: m, Gains: true, Advice: advise.New(m, exact)}
		if segments {
			s.Analyses = analyses.Run(g, p, analyses.Names, analyses.Options{})
		}
		out[method] = New(s)
	}
	return out
}

// TestGoldens: text, JSON and page of three traces by each method stay as they are. A golden that no test makes fails.
func TestGoldens(t *testing.T) {
	const dir = "testdata/golden"
	made := map[string]bool{}
	styles := regexp.MustCompile(`(?s)<(style|script)\b.*?</(style|script)>`)
	for name, tr := range ownTraces(t) {
		for method, r := range reports(t, name, tr, name != "demo") {
			if r.Analyses != nil {
				for i := range r.Analyses.Timeline { // long, and more of it shows nothing new
					r.Analyses.Timeline[i].Slots = r.Analyses.Timeline[i].Slots[:5]
				}
			}
			var text, js, page bytes.Buffer
			if err := r.WriteText(&text, TextOptions{Walk: name != "demo"}); err != nil {
				t.Fatal(err)
			}
			if err := r.WriteJSON(&js); err != nil {
				t.Fatal(err)
			}
			if err := r.WriteHTML(&page); err != nil {
				t.Fatal(err)
			}
			files := map[string][]byte{".txt": text.Bytes()}
			if name != "demo" { // its JSON and page are long and show nothing new
				files[".json"], files[".html"] = js.Bytes(), styles.ReplaceAll(page.Bytes(), nil)
			}
			for ext, got := range files {
				file := filepath.Join(dir, name+"."+method+ext)
				made[file] = true
				checkGolden(t, file, got)
			}
		}
	}
	old, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range old {
		if made[f] {
			continue
		}
		if *update {
			os.Remove(f)
			continue
		}
		t.Errorf("%s: no test makes this golden", f)
	}
}

func checkGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Errorf("%v: run the test with -update", err)
		return
	}
	if !bytes.Equal(got, want) {
		a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Errorf("%s: line %d is %q, the golden has %q", file, i+1, a[i], b[i])
				return
			}
		}
		t.Errorf("%s: %d lines, the golden has %d", file, len(a), len(b))
	}
}
