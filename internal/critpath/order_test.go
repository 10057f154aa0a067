package critpath_test

import (
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/critpath"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/pathcheck"
	"overlay/internal/trace"
)

// shuffled returns a copy of a trace with its events and rows in another order, all times shifted, and for each
// event and row of the copy the original.
func shuffled(tr *trace.Trace, r *rand.Rand, shift int64) (*trace.Trace, []trace.EventID, []trace.TrackID) {
	c := *tr
	n := len(tr.Events)
	perm := r.Perm(n) // new position -> old
	inverse := make([]trace.EventID, n)
	origin := make([]trace.EventID, n)
	for to, from := range perm {
		inverse[from], origin[to] = trace.EventID(to), trace.EventID(from)
	}
	rows := r.Perm(len(tr.Tracks))
	newRow := make([]trace.TrackID, len(rows))
	rowOrigin := make([]trace.TrackID, len(rows))
	c.Tracks = make([]trace.Track, len(rows))
	for to, from := range rows {
		newRow[from], rowOrigin[to] = trace.TrackID(to), trace.TrackID(from)
		c.Tracks[to] = tr.Tracks[from]
	}
	c.Events, c.Wide = make([]trace.Event, n), slices.Clip(tr.Wide)
	c.Ext = slices.Clone(tr.Ext)
	for to, from := range perm {
		e := c.Unlaunched(tr, trace.EventID(from))
		e.Start += shift
		if e.Track != trace.NoTrack {
			e.Track = newRow[e.Track]
		}
		c.Events[to] = e
		if tr.Ext != nil {
			c.Ext[to] = tr.Ext[from]
		}
	}
	for to, from := range origin {
		if l := tr.Launch(from); l != trace.NoEvent {
			c.SetLaunch(trace.EventID(to), inverse[l])
		}
	}
	c.Source = testtrace.Renumbered{Source: tr.Source, Of: origin}
	return &c, origin, rowOrigin
}

func exactPath(t testtrace.T, tr *trace.Trace) *critpath.Path {
	g, p := testtrace.Exact(t, tr)
	if err := pathcheck.Check(p, g); err != nil {
		t.Fatal(err)
	}
	if p.Quality["walk_gave_up"] > 0 {
		t.Fatal("the walk stood still")
	}
	return p
}

// samePath fails unless the path of a shuffled and shifted copy is the path of the original.
func samePath(t testtrace.T, tr *trace.Trace, seed uint64, shift int64) {
	want := exactPath(t, tr)
	copied, origin, rows := shuffled(tr, rand.New(rand.NewPCG(seed, 1)), shift)
	got := exactPath(t, copied)
	list := want.Segments.List()
	for i, s := range got.Segments.All() {
		s.Start, s.End, s.Track = s.Start-shift, s.End-shift, rows[s.Track]
		if s.Event != trace.NoEvent {
			s.Event = origin[s.Event]
		}
		if i >= want.Segments.Len() || *s != list[i] {
			t.Fatalf("segment %d: %+v of the copy, %+v of the original", i, *s, list[min(i, len(list)-1)])
		}
	}
	if got.Segments.Len() != want.Segments.Len() || got.Edges.Len() != want.Edges.Len() {
		t.Fatalf("%d segments and %d edges of the copy, %d and %d of the original", got.Segments.Len(), got.Edges.Len(), want.Segments.Len(), want.Edges.Len())
	}
}

func TestOrderOfTheFileDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 80).Draw(t, "program")
		r := runBrute(steps)
		if r.events == 0 {
			t.Skip("empty")
		}
		samePath(t, r.tr, rapid.Uint64().Draw(t, "seed"), rapid.Int64Range(0, 1<<50).Draw(t, "shift"))
	})
}

// Simulated programs have what the small ones above lack: several threads, graphs, copies, polls, lost launches.
func TestOrderOfSimulatedFilesDoesNotMatter(t *testing.T) {
	compared := 0
	for _, class := range testtrace.Classes {
		for seed := range uint64(20) {
			tr := testtrace.Simulated(testtrace.Random(class, seed)).Parse(t)
			if !twins(tr) {
				samePath(t, tr, seed, int64(seed)*1_000_003)
				compared++
			}
		}
	}
	if compared < 10*len(testtrace.Classes) {
		t.Errorf("only %d traces tell their events apart", compared)
	}
}

func TestOrderOfRealFilesDoesNotMatter(t *testing.T) {
	compared := 0
	for _, file := range corpus.Files(t, "*.json.gz") {
		tr := readTrace(t, file)
		if len(tr.Events) > 25_000 && testing.Short() {
			continue
		}
		if twins(tr) {
			continue // identical events are told apart by position only
		}
		t.Log(filepath.Base(file))
		samePath(t, tr, 7, 12_345_000)
		compared++
	}
	if compared == 0 {
		t.Error("no trace tells its events apart")
	}
}

// twins reports whether two events of a trace agree in all that the order of nesting looks at.
func twins(tr *trace.Trace) bool {
	type id struct {
		start, dur, ext, corr int64
		name                  trace.Sym
		track                 trace.TrackID
	}
	seen := map[id]bool{}
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Ph != 'X' || !e.Kind.Host() && !e.Kind.Device() {
			continue
		}
		k := id{e.Start, tr.Dur(e), tr.ExternalID(trace.EventID(i)), tr.Corr(e), e.Name, e.Track}
		if seen[k] && tr.Dur(e) > 0 {
			return true
		}
		seen[k] = true
	}
	return false
}

func TestProcessorsDoNotMatter(t *testing.T) {
	files := corpus.Files(t, "*.json.gz")
	tr := readTrace(t, files[len(files)-2])
	var paths []*critpath.Path
	for _, n := range []int{1, 2, 8} {
		old := runtime.GOMAXPROCS(n)
		paths = append(paths, exactPath(t, tr))
		runtime.GOMAXPROCS(old)
	}
	for _, p := range paths[1:] {
		if !slices.Equal(p.Segments.List(), paths[0].Segments.List()) || !slices.Equal(p.Edges.List(), paths[0].Edges.List()) || !slices.Equal(p.Marks.List(), paths[0].Marks.List()) {
			t.Fatal("the path depends on GOMAXPROCS")
		}
	}
}
