#!/bin/sh
# Compares what two commits write, byte for byte: for reworks that must change no output.
#   bench/same.sh OLD [NEW] [INPUT…]
# OLD is a commit or the path of a program, NEW the same; without NEW (or with ".") the working tree is built. An input is a
# trace in any format, a database, an archive, or a folder with the traces of a job. Without inputs: all of $OVERLAY_CORPUS
# (../shared/traces, its folder odd/, its ranks as one job), $OVERLAY_WORLD (../shared/world), testdata/real, the demo, and
# what this project makes of the demo in other formats. Prints a line for each output that differs and a count at the end;
# the status is 1 when there is one. A command that fails has to fail alike, with the same message. KEEP=DIR keeps the
# texts of outputs that differ.
set -u
cd "$(dirname "$0")/.." || exit 2
[ $# -ge 1 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
tmp=$(mktemp -d) || exit 2
trap 'git worktree prune; rm -rf "$tmp"' EXIT

# program NAME WHAT: builds WHAT, or takes it as it is, and leaves it as $tmp/NAME.bin.
program() {
	if [ -f "$2" ] && [ -x "$2" ]; then
		cp "$2" "$tmp/$1.bin"
	elif [ "$2" = . ]; then
		CGO_ENABLED=0 go build -buildvcs=false -trimpath -o "$tmp/$1.bin" ./cmd/overlay
	else
		git worktree add -q --detach "$tmp/$1.src" "$2" &&
			(cd "$tmp/$1.src" && CGO_ENABLED=0 go build -buildvcs=false -trimpath -o "$tmp/$1.bin" ./cmd/overlay) &&
			git worktree remove --force "$tmp/$1.src"
	fi || { echo "same.sh: cannot build $2"; exit 2; }
}

# made: the demo in the formats that this project's own writers know, and a job with summaries.
made() {
	m=$tmp/made
	mkdir -p "$m" || exit 2
	for l in pytorch pytorch-first rocprof live; do go run ./internal/testtrace/cmd/pftrace $l testdata/demo.json.gz "$m/demo_$l.pftrace"; done
	for d in nsys rocpd ascend; do go run ./internal/testtrace/cmd/database $d testdata/demo.json.gz "$m/demo_$d.db"; done
	go run ./internal/testtrace/cmd/job -o "$m/job" -cause gpu_slow
	"$tmp/old.bin" export -i "$m/job" -o "$m/summaries" --tables summary --quiet
	tar -cf "$m/job.tar" --sort=name --mtime=@0 -C "$m" job
}
program old "$1"
shift
new=.
if [ $# -gt 0 ] && { [ "$1" = . ] || { [ -f "$1" ] && [ -x "$1" ]; } || git rev-parse -q --verify "$1^{commit}" >/dev/null; }; then
	new=$1
	shift
fi
program new "$new"
if [ $# -eq 0 ]; then
	folder=${OVERLAY_CORPUS:-../shared/traces} world=${OVERLAY_WORLD:-../shared/world}
	made
	mkdir "$tmp/made/dlrm8" && cp "$folder"/param__dlrm8__* "$tmp/made/dlrm8"
	set -- testdata/demo.json.gz "$folder"/*.json.gz "$folder"/odd/*.json.gz "$world"/*.gz "$world"/*.pftrace "$world"/*.sqlite "$world"/*.pb \
		"$tmp"/made/*.pftrace "$tmp"/made/*.db "$tmp"/made/*.tar "$tmp/made/job" "$tmp/made/summaries" "$tmp/made/dlrm8" \
		testdata/real/*/*.json.zst testdata/real/*/before testdata/real/*/after
fi

# say NAME ARGUMENTS: runs one command, keeps what it prints and its status.
say() {
	name=$1
	shift
	"$bin" "$@" --no-color >"$name.out" 2>"$name.err" </dev/null
	echo "status $?" >>"$name.err"
}

# asked: the same questions of agents to both programs; the server's own name and version are not compared.
asked() {
	file=$1
	{
		echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"same","version":"1"}}}'
		echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
		for tool in check report hotspots advise; do
			echo "{\"jsonrpc\":\"2.0\",\"id\":\"$tool\",\"method\":\"tools/call\",\"params\":{\"name\":\"$tool\",\"arguments\":{\"file\":\"$file\"}}}"
		done
	} >mcp.in
	# The server ends with its input; answers are sorted, since calls may be answered in any order.
	{ cat mcp.in; sleep 3; } | timeout 60 "$bin" mcp --root . 2>mcp.err | grep -v '"id":0' | sort >mcp.out
}

# outputs WHICH INPUT NEXT: everything that one program says and writes about an input, as checksums and names.
outputs() {
	bin=$tmp/$1.bin dir=$tmp/work
	case $2 in
	*.json.gz) in=in.json.gz ;;
	*.json.zst) in=in.json.zst ;;
	*) in=in.${2##*.} ;;
	esac
	[ -d "$2" ] && in=in
	rm -rf "$dir" && mkdir -p "$dir" && cp -r "$2" "$dir/$in" && cp -r "$3" "$dir/next_$in" && cd "$dir" || exit 2
	say check check $in
	say check_json check $in --json
	say advise advise $in
	say advise_json advise $in --json
	say export export -i $in -o tables --run r
	say summary export -i $in -o parts --run r --tables summary
	say query_events query 'select * from events order by event limit 300' $in --run r
	say query_path query 'select * from path limit 300' $in --run r --format csv
	say query_tables query 'select r.*, (select count(*) from deps), (select count(*) from collectives), (select count(*) from steps), (select count(*) from modules) from runs r' $in --run r --format json
	say text report -i $in --analysis all
	say json report -i $in --analysis all --segments --json
	say page report -i $in --analysis all --html page.html
	say diff diff $in next_$in
	say diff_json diff $in next_$in --json
	say diff_markdown diff $in next_$in --markdown
	say diff_page diff $in next_$in --html diff.html
	say run run -i $in -o run.pftrace --report run.report.json --segments --analysis all
	say chrome run -i $in -o run.json --flows all
	[ "$(basename "$2")" = demo.json.gz ] && asked $in
	if [ "$in" = in ]; then
		say parts report -i parts
		find . -type f ! -path "./in/*" ! -path "./next_in/*" -exec sha256sum -- {} + | sort -k 2
		return
	fi
	say convert_pftrace convert -i $in -o c.pftrace
	say convert_json convert -i $in -o c.json
	say check_output check c.pftrace --json
	for m in ctda hta; do
		say run_$m run -i $in -o $m.pftrace --method $m --report $m.report.json --segments --analysis all
		say text_$m report -i $in --method $m --analysis all
	done
	say slim run -i $in -o slim.pftrace --only-critical
	say slim_chrome run -i $in -o slim.json --only-critical
	say anonymous run -i $in -o anonymous.pftrace --anonymize --plain
	say anonymous_chrome run -i $in -o anonymous.json --anonymize
	for t in gil explicit; do
		say threads_$t report -i $in --threads $t --json --segments
	done
	say step run -i $in -o step.pftrace --step 1
	say diff_steps diff $in
	say whatif whatif -i $in --best 5 --scale class:cpu=0.5 --scenario 'a := class:copy=0.5; no-wait *Synchronize' --scenario 'b := class:compute=0.7; unlimited-queue'
	say whatif_json whatif -i $in --best 5 --scale class:comm=0.5 --json
	say whatif_drawn whatif -i $in --scale class:cpu=0.5 -o ghost.pftrace
	find . -type f -exec sha256sum -- {} + | sort -k 2
}

differ=0 inputs=0 compared=0
for f in "$@"; do
	next=$1
	# A trace is compared with the first input where that is a trace too, a job with itself.
	[ -d "$f" ] || [ -d "$1" ] && next=$f
	case $f in *.json.gz) ;; *) next=$f ;; esac
	for which in old new; do
		(outputs $which "$f" "$next") >"$tmp/$which.sums"
		rm -rf "$tmp/$which.work" && mv "$tmp/work" "$tmp/$which.work"
	done
	inputs=$((inputs + 1))
	compared=$((compared + $(wc -l <"$tmp/old.sums")))
	for name in $(sort "$tmp/old.sums" "$tmp/new.sums" | uniq -u | awk '{ print $2 }' | sort -u); do
		echo "differs: $(basename "$f") $name"
		differ=$((differ + 1))
		if [ -n "${KEEP:-}" ]; then
			for which in old new; do
				mkdir -p "$KEEP/$which/$(basename "$f")/$(dirname "$name")"
				cp "$tmp/$which.work/$name" "$KEEP/$which/$(basename "$f")/$name" 2>/dev/null
			done
		fi
	done
done
echo "$differ of $compared outputs of $inputs inputs differ"
[ "$compared" -gt 0 ] && [ "$differ" = 0 ]
