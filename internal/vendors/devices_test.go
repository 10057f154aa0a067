package vendors

import "testing"

func TestModel(t *testing.T) {
	for device, want := range map[string][3]string{
		"NVIDIA A100-SXM4-40GB":        {"NVIDIA", "A100-SXM4-40GB", "Ampere"},
		"NVIDIA PG509-210":             {"NVIDIA", "PG509-210", "Ampere"},
		"Tesla V100-DGXS-32GB":         {"NVIDIA", "Tesla V100-DGXS-32GB", "Volta"},
		"NVIDIA H100 80GB HBM3":        {"NVIDIA", "H100 80GB HBM3", "Hopper"},
		"NVIDIA GeForce RTX 4090":      {"NVIDIA", "GeForce RTX 4090", "Ada Lovelace"},
		"NVIDIA L4":                    {"NVIDIA", "L4", "Ada Lovelace"},
		"NVIDIA GB200":                 {"NVIDIA", "GB200", "Blackwell"},
		"AMD Instinct MI210":           {"AMD", "Instinct MI210", "CDNA 2"},
		"AMD Instinct MI300X":          {"AMD", "Instinct MI300X", "CDNA 3"},
		"AMD Instinct MI355X":          {"AMD", "Instinct MI355X", "CDNA 4"},
		"NVIDIA Something of tomorrow": {"NVIDIA", "Something of tomorrow", ""},
		"ARTEMIS":                      {},
		"":                             {},
	} {
		maker, model, architecture := Model(device)
		if got := [3]string{maker, model, architecture}; got != want {
			t.Errorf("%q: %q, want %q", device, got, want)
		}
	}
}
