# A list of commands; `make` alone prints it. Everything needs Go only, but for: generate (protoc), race (a C compiler),
# wheels (Python 3), site (mkdocs), picture and test-browser (chromium). Those that lack their tool say so.

GO ?= go

# Go asks git for the commit to put into the binary and fails where git refuses the folder (another owner, as in containers).
VCS := $(shell git rev-parse HEAD >/dev/null 2>&1 || echo -buildvcs=false)

.PHONY: help build quick picture web wheels test-wheels site licences module demo demo-ranks test race check mutate bench bench-hta fuzz update generate test-browser lint clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

# Without cgo the binary is static and runs on any Linux of its architecture. Program and tests are compiled alike, so that
# what one has compiled the other need not compile again. -s and -w leave out what only debuggers read: a panic still names functions and lines.
export CGO_ENABLED = 0
GOFLAGS += -trimpath
export GOFLAGS
build: ## bin/overlay
	$(GO) build $(VCS) -ldflags '-s -w' -o bin/overlay ./cmd/overlay

# The page is compiled without inlining: that takes a tenth off what is sent, and makes it some 7 % slower. So does sorting by one copy of
# the library's algorithm (that of package sort, which is the same) in place of one for each type: a fortieth less is sent. What fields are
# about, which only the tables of the documentation ask, is left out.
# The glue wasm_exec.js has to be that of the Go that compiles.
WEB ?= bin/web
SORTS = bin/web-sorts
web: ## the page that needs no install, into bin/web: any static web server can show it
	mkdir -p $(WEB)
	cp cmd/overlay-web/site/* testdata/demo.json.gz "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" $(WEB)
	@mkdir -p $(SORTS); root=$$($(GO) env GOROOT)/src; \
	  sed 's/^package sort/package slices/' $$root/sort/zsortfunc.go | cat - cmd/overlay-web/slices.txt > $(SORTS)/any.txt; \
	  { printf '{"Replace": {"%s": "%s"' $$root/slices/zsortanyfunc.go $(SORTS)/any.txt; \
	    for f in $$(grep -rl --include='*.go' --exclude='*_test.go' --exclude-dir=testtrace ' about:"' internal); do \
	      to=$(SORTS)/$$(echo $$f | tr / _).txt; sed 's/ about:"[^"`]*"//g' $$f > $$to; printf ', "%s": "%s"' $$f $$to; done; echo '}}'; } > $(SORTS)/overlay.json
	GOOS=js GOARCH=wasm $(GO) build $(VCS) -overlay $(SORTS)/overlay.json -ldflags '-s -w' -gcflags=all=-l -o $(WEB)/overlay.wasm ./cmd/overlay-web

# SQLite, Parquet and the library of agents' protocol take half of the time that compiling takes, and few need them on the first day.
# A bin/overlay that is whole stays whole.
quick: ## bin/overlay in half the time, unless it is there: without databases, query, export and mcp, and it says so when asked
	@if bin/overlay query --schema >/dev/null 2>&1; then $(MAKE) --no-print-directory build; else set -x; \
	  $(GO) build -tags quick $(VCS) -ldflags '-s -w' -o bin/overlay ./cmd/overlay; fi

PLATFORMS ?=
wheels: ## bin/wheels: what `pip install` takes, the program with python/overlay_torch.py (PLATFORMS="linux/arm64 …", or all)
	python3 python/wheels.py --out bin/wheels $(PLATFORMS)

# Debian's Python needs python3-venv. The wheel is put into an environment of its own, and what it brings is used there.
PYTHON ?= /usr/bin/python3
test-wheels: ## the wheel of this machine, installed and used
	@if ! $(PYTHON) -c 'import ensurepip' 2>/dev/null; then echo "test-wheels: $(PYTHON) cannot make environments (Debian: python3-venv), nothing was tested"; exit 0; fi; set -e; \
	  rm -rf bin/venv bin/wheels-here; $(PYTHON) python/wheels.py --out bin/wheels-here; $(PYTHON) -m venv bin/venv; \
	  bin/venv/bin/python -m pip install -q --no-index --disable-pip-version-check bin/wheels-here/*.whl; bin/venv/bin/overlay version; \
	  cd bin/venv; PATH="$$PWD/bin:$$PATH" bin/python -c "import overlay_torch, overlay_notebook; r = overlay_notebook.Report('../../testdata/demo.json.gz'); \
	  assert 'Bound by' in r.page and len(r.table('hotspots')) == 10; print('the wheel works with', __import__('sys').version.split()[0])"

site: ## bin/site: the documents as a site (mkdocs)
	@command -v mkdocs >/dev/null || { echo "site: mkdocs is missing (Debian: mkdocs; pip install mkdocs)"; exit 1; }
	mkdocs build -q

demo: quick ## analyse the demo trace of the project and print the summary
	bin/overlay run -i testdata/demo.json.gz -o bin/demo.overlaid.pftrace

SHOT = chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --disable-features=IsolateSandboxedIframes --virtual-time-budget=5000 --window-size=1000
PAIR = testdata/real/optimizer_foreach
# A picture of one section hides what else stands on its page.
ONLY = f() { (cat bin/$$1.html; echo "<style>body{max-width:none}body>:not(\#$$2){display:none!important}body>\#$$2{margin:0}</style>") > bin/$$2.html; }; f
MEMORY = $(wildcard ../shared/traces/TraceLens__h100__Qwen*.json.gz)
picture: build ## docs/img: pages of the demo, of recorded traces and of a simulated job (chromium; jupyter-nbconvert for that of a notebook; pngquant makes them small); of memory where ../shared is beside
	bin/overlay report -i testdata/demo.json.gz --html bin/demo.html
	$(SHOT),735 --screenshot=docs/img/report.png bin/demo.html
	bin/overlay diff $(PAIR)/before.json.zst $(PAIR)/after.json.zst --html bin/difference.html
	$(SHOT),1250 --screenshot=docs/img/difference.png bin/difference.html
	bin/overlay report -i $(PAIR)/before.stacks.json.zst --html bin/stacks.html
	$(ONLY) stacks flame && $(SHOT),560 --screenshot=docs/img/flame.png bin/flame.html
	[ -z "$(MEMORY)" ] || { bin/overlay report -i "$(MEMORY)" --html bin/held.html; $(ONLY) held memory; $(SHOT),440 --screenshot=docs/img/memory.png bin/memory.html; }
	$(GO) run ./internal/testtrace/cmd/job -o bin/traces
	for p in sliders,testdata/demo.json.gz,1240 ranks,bin/traces,980; do (IFS=,; set -- $$p; \
	  bin/overlay open --page --no-browser $$2 > bin/address 2>&1 & server=$$!; \
	  until grep -q ^http bin/address; do sleep 0.2; done; $(SHOT),$$3 --screenshot=docs/img/$$1.png "$$(grep -m1 ^http bin/address)"; kill $$server); done
	! command -v jupyter-nbconvert >/dev/null || { PYTHONPATH=python OVERLAY=$$PWD/bin/overlay jupyter-nbconvert --execute --to html --output-dir bin python/notebook.ipynb; \
	  $(SHOT),790 --screenshot=docs/img/notebook.png bin/notebook.html; }
	! command -v pngquant >/dev/null || pngquant --force --ext .png 96 docs/img/*.png

demo-ranks: quick ## make the traces of a job of eight ranks and say what holds it up
	$(GO) run ./internal/testtrace/cmd/job -o bin/traces
	bin/overlay check bin/traces
	bin/overlay report -i bin/traces

# Package lines are kept: they are what a reader of the log looks for. OVERLAY_LONG=1 in the environment switches the heavy
# loops on; SKIP leaves tests out by name.
test: ## all tests that need Go only; those on real traces run where OVERLAY_CORPUS has them
	$(GO) test -vet=off -timeout 40m $(if $(SKIP),-skip '$(SKIP)') ./...

# The race detector needs cgo and costs about ten times the time: made traces will do, heavy loops stay off, and only packages
# whose own code shares work among goroutines are tested. Programs that a test ends by signals must not sleep for a second before
# they are gone, as they would with it. Vet has been run by lint. Left out by name are tests that measure or ask one goroutine,
# read sources or databases, start the program many times, or judge results over many runs: what their stages share, shorter tests
# of the package share, too. A new test runs unless it is named here, and a name that no test has is an error of TestRace in internal.
NO_RACE = TestLinearTime|TestDatabases|TestQuestions|TestCutEverywhere|TestCuspySimulated|TestOrderOfSimulatedFilesDoesNotMatter
NO_RACE := $(NO_RACE)|TestTurnsSimulated|TestManyRows|TestGainOfStep|TestSmallTimes|TestBombs|TestHostileAgents|TestJudged|TestRunAgain|TestMeasured[A-Za-z]*|TestAnonymousOutputs|TestOneNameTwice
NO_RACE := $(NO_RACE)|TestSame|TestScript|TestRealTraces|TestFleet|TestPython|TestGateScript|TestCompareScript|TestActionSteps|TestGitLab[A-Za-z]*|TestTemplates[A-Za-z]*|TestWideNumbers|TestManyCategories
NO_RACE := $(NO_RACE)|TestPyTorch|TestRocprof|TestLive|TestWithoutNames|TestExactOnRank|TestBuckets|TestLatency|TestNeeded|TestNoFalseAlarms|TestJobText
race: ## tests of what runs beside other work, on made traces, under the race detector
	OVERLAY_CORPUS=/nonexistent GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test -vet=off -race -short -timeout 20m -skip '^($(NO_RACE))$$' \
	  $$(grep -rlE '\bgo (func\b|[A-Za-z.]+\()|\.Go\(|internal/par"' --include='*.go' --exclude='*_test.go' --exclude-dir=testtrace cmd internal | xargs -n1 dirname | sort -u | sed 's,^,./,')

lint: ## gofmt, go vet, staticcheck
	@bad=$$(gofmt -l cmd internal proto testdata); if [ -n "$$bad" ]; then echo "gofmt: not formatted:"; echo "$$bad"; exit 1; fi
	$(GO) vet ./...
	GOOS=js GOARCH=wasm $(GO) vet ./cmd/overlay-web
	$(GO) tool -modfile=tools/go.mod staticcheck ./...

# The clean-tree check comes last, since a test may be what leaves a file.
check: lint ## everything: lint, all tests with their heavy loops, generated files up to date
	OVERLAY_LONG=1 $(GO) test -timeout 40m $(if $(SKIP),-skip '$(SKIP)') ./...
	@if command -v protoc >/dev/null; then $(MAKE) --no-print-directory generate && git diff --exit-code --stat -- '*.pb.go'; \
	else echo "check: protoc is missing, generated files are not compared"; fi

mutate: ## change 60 conditions of the code, one at a time; tests of the package have to notice
	$(GO) run ./bench/mutate

bench: ## benchmarks, ten runs each, into bench/latest.txt (compare with: go tool -modfile=tools/go.mod benchstat OLD NEW)
	$(GO) test -run '^$$' -bench . -benchmem -count 10 -timeout 60m ./... | tee bench/latest.txt

bench-hta: ## the hta method, ten runs each, into bench/hta.txt
	$(GO) test -run '^$$' -bench 'Find|Stages/.*/hta' -benchmem -count 10 ./internal/critpath/hta ./internal/overlay | tee bench/hta.txt

# go test fuzzes one target of one package at a time. It makes inputs that reach new code smaller, for up to a minute each
# unless told otherwise, and tries nothing new meanwhile.
FUZZTIME ?= 20s
fuzz: ## every fuzz target for FUZZTIME
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -run '^$$' -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$pkg; \
	  done; \
	done

# Only packages with golden texts know the flag.
update: ## rewrite golden texts; look at the difference before you commit it
	OVERLAY_LONG=1 $(GO) test $$(grep -rl --include='*_test.go' 'flag.Bool("update"' cmd internal | xargs -n1 dirname | sort -u | sed 's,^,./,') -skip '^Test(GrowthTime|Attack)' -update

# The modules that the program is made of, and Go itself, with the texts of their licences.
licences: ## print the licences of everything that the program contains
	@for os in linux darwin windows; do GOOS=$$os $(GO) list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/overlay; done | sort -u | \
	  { cat; echo "Go $$($(GO) env GOVERSION) $$($(GO) env GOROOT)"; } | while read -r name version dir; do \
	  text=$$(ls "$$dir" | grep -iE '^(LICEN[CS]E|COPYING|NOTICE)' | head -3); \
	  [ -n "$$text" ] || { echo "licences: none in $$dir" >&2; exit 1; }; \
	  printf '\n==== %s %s\n\n' "$$name" "$$version"; for t in $$text; do cat "$$dir/$$t"; done; done

# `go install` needs a module path that says where the code lives. The name stands in go.mod and in import paths only.
module: ## give the module another path: make module MODULE=github.com/OWNER/overlay
	@[ -n "$(MODULE)" ] || { echo "module: name the path, as in MODULE=github.com/OWNER/overlay"; exit 2; }
	@old=$$($(GO) list -m) && $(GO) mod edit -module $(MODULE) && \
	  git ls-files '*.go' | xargs sed -i -E "s#(\")$$old/(internal|cmd|proto)/#\1$(MODULE)/\2/#" && \
	  gofmt -w $$(git ls-files '*.go') && $(GO) build ./... && echo "module: $$old is now $(MODULE)"

generate: ## generated files, the demo trace included
	@command -v protoc >/dev/null || { echo "generate: protoc is missing (Debian: protobuf-compiler)"; exit 1; }
	$(GO) generate ./...

test-browser: ## the outputs in a real viewer, headless
	@if command -v chromium >/dev/null || command -v google-chrome >/dev/null; then \
	  OVERLAY_BROWSER=1 $(GO) test -count=1 -run '^TestBrowser' -v ./cmd/overlay; \
	else echo "test-browser: chromium is missing, nothing was tested"; fi

clean: ## remove what was built
	rm -rf bin
