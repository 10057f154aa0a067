package advise

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// preparing are folders of packages that prepare data on the CPU, and preparingFiles the beginnings of names of files that do.
var (
	preparing      = []string{"numpy", "PIL", "cv2", "scipy", "librosa", "torchaudio", "decord", "pandas", "albumentations", "tokenizers"}
	preparingFiles = []string{"image_processing_", "image_transforms", "tokenization_", "feature_extraction_", "soundfile"}
)

// prepares reports whether a frame, such as numpy/core/numeric.py(79): full, belongs to a package that prepares data.
func prepares(frame string) bool {
	file, _, ok := strings.Cut(frame, "(")
	if !ok || strings.HasPrefix(frame, "<") || strings.HasPrefix(frame, "nn.Module") {
		return false
	}
	parts := strings.Split(file, "/")
	for i, part := range parts[:len(parts)-1] {
		if slices.Contains(preparing, part) || part == "torchvision" && parts[i+1] == "transforms" {
			return true
		}
	}
	name := parts[len(parts)-1]
	return slices.ContainsFunc(preparingFiles, func(s string) bool { return strings.HasPrefix(name, s) })
}

// computes reports whether a frame is of a model: what lies below prepares nothing.
func computes(frame string) bool {
	return strings.HasPrefix(frame, "nn.Module: ") || strings.HasPrefix(frame, "torch/nn/") || strings.Contains(frame, "/torch/nn/")
}

var _ = add(rule{
	id: "python-preprocessing", group: Specific, kind: AtMost, level: Medium,
	why:      "that all of it can be done elsewhere is the best case",
	title:    "data is prepared on the thread that launches",
	cause:    "the GPU waits while the interpreter decodes, resizes, normalizes or tokenizes",
	scenario: "these frames and the Python below them take no time of their own",
	action:   []string{"into the Dataset, with num_workers of the DataLoader", "on the GPU: torchvision.transforms.v2, kornia", "once for all: keep what was prepared"},
	verify:   "no time under that line on the thread that launches",
	find: func(r *run) *found {
		on := r.launching()
		prepares := r.fits(frameKinds, prepares)
		if len(prepares) == 0 {
			return nil
		}
		computes := r.fits(frameKinds, computes)
		inModel := make([]bool, len(r.g.Acts)) // activities of a thread come after what encloses them
		var top []cdg.ActID
		for a := range r.g.Acts {
			id := cdg.ActID(a)
			if p := r.g.Parent[a]; p != cdg.NoAct {
				inModel[a] = inModel[p]
			}
			if r.kind(id) != trace.Python || !r.inside(id) || !on[r.g.Acts[a].Lane] {
				continue
			}
			name := r.event(id).Name
			inModel[a] = inModel[a] || computes[name]
			if prepares[name] && !inModel[a] {
				top = append(top, id)
			}
		}
		in := r.within(top)
		var list []cdg.ActID
		ns := map[cdg.ActID]int64{} // by outermost frame
		for a := range in {
			if id := cdg.ActID(a); in.by(id) != cdg.NoAct && r.kind(id) == trace.Python && !inModel[a] {
				list = append(list, id)
				ns[in.by(id)] += r.own(cdg.ActID(a))
			}
		}
		if len(list) == 0 {
			return nil
		}
		outer := r.outermost(top)
		line, most := "", int64(0)
		byLine := map[string]int64{}
		for _, a := range outer {
			name := r.name(a)
			if byLine[name] += ns[a]; byLine[name] > most {
				line, most = name, byLine[name]
			}
		}
		f := &found{events: events{list: outer, expected: -1}, change: r.scenario(), do: "prepare data in workers, or on the GPU",
			saw:     fmt.Sprintf("%s of Python in %s, most in %s", tables.Duration(sum(list, func(a cdg.ActID) int64 { return r.own(a) })), tables.Counted(len(outer), "frame"), line),
			numbers: []Number{countOf("frames", len(outer)), timeOf("of Python in them", sum(list, func(a cdg.ActID) int64 { return r.own(a) })), timeOf("below the line with most", most)}}
		f.change.zero(list)
		return f
	},
})
