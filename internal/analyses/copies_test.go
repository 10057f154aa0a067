package analyses

import "testing"

func TestCopyKind(t *testing.T) {
	for name, want := range map[string]string{
		"Memcpy HtoD (Pinned -> Device)": "Memcpy HtoD",
		"Memset (Device)":                "Memset",
		"Memcpy":                         "Memcpy",
		"":                               "",
		"emcpy Hto\uFFFD\uFFFD and more": "emcpy Hto\uFFFD\uFFFD", // characters, not bytes: a cut one would be no text
		"скопировано на устройство": "скопировано",
	} {
		if got := copyKind(name); got != want {
			t.Errorf("copyKind(%q) = %q, want %q", name, got, want)
		}
	}
}
