package advise

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of rules in the documentation, and testdata")

// TestDocumented: the documentation lists the rules as they are.
func TestDocumented(t *testing.T) {
	const file, head = "../../docs/reference/rules.md", "## Rules\n\n| rule | finds |\n| --- | --- |\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(text), head)
	if !ok {
		t.Fatalf("%s has no table of rules", file)
	}
	want := before + head
	for _, r := range rules {
		want += "| `" + r.id + "` | " + r.title + ": " + r.cause + " |\n"
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(text) {
		t.Errorf("the table of rules in %s is not that of the rules: run go test ./internal/advise -update", file)
	}
}
