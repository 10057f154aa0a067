package jobadvice

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of rules in the documentation")

// TestDocumented: the documentation lists the rules as they are.
func TestDocumented(t *testing.T) {
	const file, head, next = "../../../docs/reference/rules.md", "## Rules over ranks\n\n| rule | finds |\n| --- | --- |\n", "\n## Rules\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), head)
	_, after, more := strings.Cut(rest, next)
	if !ok || !more {
		t.Fatalf("%s has no table of rules over ranks", file)
	}
	want := before + head
	rules := rules()
	for i := range rules {
		want += "| `" + rules[i].id + "` | " + rules[i].title + ": " + rules[i].cause + " |\n"
	}
	want += next + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("the table of rules over ranks in %s is not that of the rules: run go test ./internal/advise/jobadvice -update", file)
	}
}
