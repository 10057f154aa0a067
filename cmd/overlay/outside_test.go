package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"overlay/internal/testtrace/corpus"
)

// Scripts of the project that run the program from outside, on the program of the test.

// programFile is this program as a file.
func programFile(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "overlay") // under this name TestMain makes the program of the test
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	return program
}

// TestPython runs the tests of the Python side.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	cmd := exec.Command(python, "-B", "-m", "unittest", "discover", "python", "-v")
	cmd.Dir = corpus.Root(t)
	cmd.Env = append(os.Environ(), "OVERLAY="+programFile(t))
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("TestHandler.test_real_program) ... ok")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCompareScript: what continuous integration runs leaves a comment and a picture, and ends as `overlay diff` does.
func TestCompareScript(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	demo := corpus.Demo(t)
	dashed := filepath.Join(t.TempDir(), "-x.json.gz")
	if err := os.Link(demo, dashed); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		after   string
		status  int
		comment string
		picture bool
	}{
		{demo, 0, "### ⚪ `demo.json.gz`: 3 steps against 3; ", true},
		{"-x.json.gz", 0, "### ⚪ `-x.json.gz`: 3 steps against 3; ", true},
		{demo + "\n*x.json.gz", 0, "### ⚪ `demo.json.gz`: 1 run against 2, 3 steps against 6; ", true},
		{"missing.json", 1, "overlay could not compare the traces: see the log.\n", false},
	} {
		folder := filepath.Join(t.TempDir(), "out")
		cmd := exec.Command("sh", filepath.Join(corpus.Root(t), "ci", "compare.sh"), demo, c.after, "5", folder)
		cmd.Env = append(os.Environ(), "OVERLAY="+programFile(t))
		cmd.Dir = filepath.Dir(dashed)
		err := cmd.Run()
		var exit *exec.ExitError
		if status := cmd.ProcessState.ExitCode(); status != c.status || err != nil && !errors.As(err, &exit) {
			t.Errorf("%s: status %d, %v", c.after, status, err)
		}
		comment, err := os.ReadFile(filepath.Join(folder, "comment.md"))
		if err != nil || !bytes.HasPrefix(comment, []byte(c.comment)) {
			t.Errorf("%s: %v, %q", c.after, err, comment)
		}
		if _, err := os.Stat(filepath.Join(folder, "paths.svg")); (err == nil) != c.picture {
			t.Errorf("%s: picture %v", c.after, err)
		}
	}
}

// fakeGH puts a program gh on PATH that keeps comments in a file, hands out a release, and refuses where the file "refuse" is.
func fakeGH(t *testing.T, dir string) []string {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	const script = `#!/bin/sh
echo "$@" >>"$DIR/calls"
[ ! -e "$DIR/refuse" ] || { echo "gh: Resource not accessible by integration" >&2; exit 1; }
case "$*" in
"release download"*) cp "$DIR"/release/* . ;;
*--paginate*) if [ -e "$DIR/comment" ]; then echo 77; fi ;;
*PATCH*/comments/77* | *POST*) for a; do case $a in body=@*) cp "${a#body=@}" "$DIR/comment" ;; esac; done ;;
*) exit 1 ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "gh"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "DIR="+dir, "GITHUB_REPOSITORY=o/r")
}

// TestCommentScript: the first run leaves a comment, the second writes the same one again, known by its marker alone.
func TestCommentScript(t *testing.T) {
	dir := t.TempDir()
	env := fakeGH(t, dir)
	script := filepath.Join(corpus.Root(t), "ci", "comment.sh")
	for _, text := range []string{"slower\n", "faster\n"} {
		file := filepath.Join(dir, "text.md")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", script, file, "12", "mine")
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "comment")); err != nil || string(got) != "<!-- overlay: mine -->\n"+text {
			t.Errorf("%v, %q", err, got)
		}
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil || bytes.Count(calls, []byte("POST repos/o/r/issues/12/comments")) != 1 ||
		bytes.Count(calls, []byte("PATCH repos/o/r/issues/comments/77")) != 1 ||
		!bytes.Contains(calls, []byte(`startswith("<!-- overlay: mine -->")`)) {
		t.Errorf("%v\n%s", err, calls)
	}
	if err := os.WriteFile(filepath.Join(dir, "refuse"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", script, filepath.Join(dir, "text.md"), "12")
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("not accessible")) {
		t.Errorf("without the right to comment: %v\n%s", err, out)
	}
}

// TestInstallScript: a release whose sum is right is unpacked, another one is not.
func TestInstallScript(t *testing.T) {
	dir := t.TempDir()
	env := fakeGH(t, dir)
	if runtime.GOOS == "windows" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("no release for this system")
	}
	archive := "overlay_1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	make := exec.Command("sh", "-c", `mkdir release && echo '#!/bin/sh' >overlay && chmod +x overlay && tar -czf release/$0 overlay && cd release && sha256sum $0 >SHA256SUMS`, archive)
	make.Dir = dir
	if out, err := make.CombinedOutput(); err != nil {
		t.Skipf("%v %s", err, out)
	}
	install := func(to string) error {
		cmd := exec.Command("sh", filepath.Join(corpus.Root(t), "ci", "install.sh"), "o/overlay", "v1.2.3", filepath.Join(dir, to))
		cmd.Env = env
		return cmd.Run()
	}
	if err := install("bin"); err != nil {
		t.Error(err)
	}
	if found, err := filepath.Glob(filepath.Join(dir, "bin", "*")); err != nil || len(found) != 1 || filepath.Base(found[0]) != "overlay" {
		t.Errorf("%v, %q", err, found)
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil || !bytes.HasPrefix(calls, []byte("release download v1.2.3 --repo o/overlay ")) {
		t.Errorf("%v, %s", err, calls)
	}
	if err := os.WriteFile(filepath.Join(dir, "release", archive), []byte("other"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := install("other"); err == nil {
		t.Error("a release with a wrong sum was taken")
	}
	if _, err := os.Stat(filepath.Join(dir, "other", "overlay")); err == nil {
		t.Error("a program with a wrong sum was left")
	}
}

// gitLabScript is what the GitLab job runs.
func gitLabScript(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpus.Root(t), "ci", "gitlab.yml"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(text), "  script:\n")
	script, _, _ = strings.Cut(script, "  artifacts:")
	script = regexp.MustCompile(`(?m)^ +(- (>\n)?)?`).ReplaceAllString(script, "")
	return strings.ReplaceAll(script, "then\n", "then ")
}

// TestGitLabJob runs the commands of the GitLab job as an include brings them: without any other file of the project.
func TestGitLabJob(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	script := gitLabScript(t)
	demo := corpus.Demo(t)
	program := programFile(t)
	for _, c := range []struct {
		after  string
		status int
		want   string
	}{
		{demo, 0, "3 steps against 3; a step takes"},
		{demo + " " + demo, 0, "1 run against 2, 3 steps against 6; a step takes"},
		{"missing.json", 1, "overlay could not compare the traces"},
	} {
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "BEFORE="+demo, "AFTER="+c.after, "FAIL_IF_SLOWER=5", "CI_MERGE_REQUEST_IID=")
		out, _ := cmd.Output()
		if cmd.ProcessState.ExitCode() != c.status || !bytes.Contains(out, []byte(c.want)) {
			t.Errorf("%s: status %d\n%s\n%s", c.after, cmd.ProcessState.ExitCode(), out, script)
		}
	}
}
