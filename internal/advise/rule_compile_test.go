package advise

import "fmt"

func init() {
	run := func(cat, name string, launches bool, mark bool) func(*scene) {
		return func(s *scene) {
			for range 3 {
				e := s.slice(cat, name, 20_000_000, func() {
					if launches {
						s.work(10)
					}
				})
				if mark {
					s.mark(e)
				}
				s.work(30)
			}
		}
	}
	cases["compile-in-window"] = ruleCase{
		planted: []func(*scene){run("user_annotation", "compile_fx_inner", false, true), run("python_function", "torch/_dynamo/convert_frame.py(812): _compile", false, true)},
		alike: []func(*scene){run("cpu_op", "CompiledFunction", true, false), run("python_function", "torch/_inductor/output_code.py(465): __call__", true, false),
			run("user_annotation", "compile_fx_inner", true, false)},
	}
	versions := func(n, steps int, mark bool) func(*scene) {
		return func(s *scene) {
			for step := range steps {
				s.annotate(fmt.Sprintf("ProfilerStep#%d", step), 10_000, func() {
					if e := s.annotate(fmt.Sprintf("Torch-Compiled Region: 3/%d", step%n), 10_000, func() { s.work(2) }); mark {
						s.mark(e)
					}
				})
			}
		}
	}
	cases["recompiled"] = ruleCase{planted: []func(*scene){versions(4, 4, true)}, alike: []func(*scene){versions(1, 4, false), versions(2, 2, false)}}
}
