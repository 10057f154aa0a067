package anonymize

import "testing"

// TestValues: what stays of values, under keys that are known and others, and lists and objects keep their form.
func TestValues(t *testing.T) {
	v := values{known: func(key string) bool { return key == "bytes" || key == "list" }, text: argText}
	for raw, want := range map[string]string{
		`[1, 2 ,3]`: `[1, 2, 3]`, `[]`: `[]`, `[ ]`: `[]`, `[[1],{"bytes":2}]`: `[[1], {"bytes": 2}]`, `{"bytes":12345,"list":[1,true,null]}`: `{"bytes": 12345, "list": [1, true, null]}`,
		`{"job":1234}`: `{"k_` + sum("job") + `": 1234}`, `{"job":12345}`: `{"k_` + sum("job") + `": "n_` + sum("12345") + `"}`, `{"job":false}`: `{"k_` + sum("job") + `": false}`,
		`"aten::mm"`: `"aten::mm"`, `"alice"`: `"s_` + sum("alice") + `"`, `"1.5"`: `"1.5"`, `01`: `null`, `-`: `null`, `1.`: `null`, `1e5`: `1e5`, `-0.5`: `-0.5`, `nul`: `null`, ``: `null`,
	} {
		if got := string(v.append(nil, true, []byte(raw))); got != want {
			t.Errorf("%s becomes %s, want %s", raw, got, want)
		}
	}
	for s, want := range map[string]bool{"2.21.5": true, "12345678": true, "123456789": false, "2.x": false, "": true} {
		if shortVersion(s) != want {
			t.Errorf("version %q: %v", s, !want)
		}
	}
	for s, stays := range map[string]bool{"NVIDIA A100": true, "Alices GPU": false, "2.21.5": true, "1234": true, "123456789": false, "cuda nccl": true} {
		if got := metaText(true, s); (got == s) != stays {
			t.Errorf("%q becomes %q", s, got)
		}
		if got := metaText(false, s); got == s {
			t.Errorf("%q stays under an unknown key", s)
		}
	}
	for s, want := range map[string]bool{"pt_autograd_3": true, "pt_nccl_watchdg": true, "pt_other_watchdg": false, "pt_nccl_": false, "alice": false, "pt_main_thread": true} {
		if isPlainThread(s) != want {
			t.Errorf("thread %q: %v", s, !want)
		}
	}
}

func sum(s string) string { return pseudonym("", s) }
