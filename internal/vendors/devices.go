package vendors

import (
	"regexp"
	"strings"
)

// makes are the makers of devices by the words that begin their names, the last of which the model keeps.
var makes = []struct{ start, maker, rest string }{
	{"NVIDIA ", "NVIDIA", ""}, {"Tesla ", "NVIDIA", "Tesla "}, {"GeForce ", "NVIDIA", "GeForce "}, {"Quadro ", "NVIDIA", "Quadro "}, {"AMD ", "AMD", ""},
}

// architectures are those of devices by their models.
var architectures = []struct {
	models *regexp.Regexp
	name   string
}{
	{regexp.MustCompile(`P100|P40|GTX 10`), "Pascal"},
	{regexp.MustCompile(`V100|TITAN V`), "Volta"},
	{regexp.MustCompile(`\bT4\b|RTX 20|TITAN RTX`), "Turing"},
	{regexp.MustCompile(`\bA(100|800|10G?|16|2|30|40)\b|PG509|RTX 30|RTX A\d`), "Ampere"},
	{regexp.MustCompile(`\bL(4|20|40S?)\b|RTX 40|Ada`), "Ada Lovelace"},
	{regexp.MustCompile(`\bG?H(20|100|200|800)\b`), "Hopper"},
	{regexp.MustCompile(`\bG?B(100|200|300)\b|RTX 50`), "Blackwell"},
	{regexp.MustCompile(`\bMI1\d\d`), "CDNA"},
	{regexp.MustCompile(`\bMI2\d\d`), "CDNA 2"},
	{regexp.MustCompile(`\bMI3[0-2]\d`), "CDNA 3"},
	{regexp.MustCompile(`\bMI35\d`), "CDNA 4"},
}

// Model takes the name of a device apart, as in "NVIDIA A100-SXM4-40GB": its maker, its model, its architecture. What the name does not tell is "".
func Model(device string) (maker, model, architecture string) {
	for _, m := range makes {
		if rest, ok := strings.CutPrefix(device, m.start); ok {
			maker, model = m.maker, m.rest+rest
			break
		}
	}
	for _, a := range architectures {
		if maker != "" && a.models.MatchString(model) {
			return maker, model, a.name
		}
	}
	return maker, model, ""
}
