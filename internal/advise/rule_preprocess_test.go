package advise

import "testing"

func init() {
	batches := func(around, frame string, mark bool) func(*scene) {
		return func(s *scene) {
			for range 5 {
				s.slice("python_function", around, 10_000, func() {
					e := s.slice("python_function", frame, 2_000_000, func() {
						s.slice("python_function", "<built-in function array>", 1_000_000, nothing)
					})
					if mark {
						s.mark(e)
					}
				})
				s.work(10)
			}
		}
	}
	const frame = "transformers/image_processing_utils.py(79): normalize"
	cases["python-preprocessing"] = ruleCase{planted: []func(*scene){batches("train.py(12): step", frame, true)},
		alike: []func(*scene){
			batches("nn.Module: Encoder_0", frame, false), // a part of the model
			batches("train.py(12): step", "train.py(80): log", false),
			func(s *scene) { // on a thread that launches nothing
				s.b.Slice("python_function", frame, 100, 300, 0, 5_000_000)
				s.work(50)
			},
		}}
}

// TestPrepares: frames are told by the folder or the file of a package, not by a word that occurs somewhere.
func TestPrepares(t *testing.T) {
	for name, want := range map[string]bool{
		"numpy/core/numeric.py(79): full": true, "/usr/lib/python3/site-packages/PIL/Image.py(2103): resize": true, "torchvision/transforms/functional.py(1): f": true,
		"transformers/tokenization_utils_base.py(2): __call__": true, "torchvision/models/resnet.py(1): f": false, "train.py(3): numpy": false, "my_numpy.py(3): f": false,
		"<built-in function numpy>": false, "nn.Module: PIL_0": false,
	} {
		if prepares(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
