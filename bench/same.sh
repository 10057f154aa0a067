#!/bin/sh
# Compares what two commits write, byte for byte: for reworks that must change no output.
#   bench/same.sh OLD [NEW] [TRACE…]
# OLD is a commit or the path of a program, NEW the same; without NEW (or with ".") the working tree is built. Without
# traces: all of $OVERLAY_CORPUS or ../shared/traces, its folder odd/, and the demo. Prints a line for each output that
# differs and a count at the end; the status is 1 when there is one. A command that fails has to fail alike, with the
# same message.
set -u
cd "$(dirname "$0")/.." || exit 2
[ $# -ge 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }
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
program old "$1"
shift
new=.
if [ $# -gt 0 ] && { [ "$1" = . ] || { [ -f "$1" ] && [ -x "$1" ]; } || git rev-parse -q --verify "$1^{commit}" >/dev/null; }; then
	new=$1
	shift
fi
program new "$new"
if [ $# -eq 0 ]; then
	folder=${OVERLAY_CORPUS:-../shared/traces}
	set -- testdata/demo.json.gz "$folder"/*.json.gz "$folder"/odd/*.json.gz
fi

# outputs WHICH TRACE NEXT: everything that one program says and writes about a trace, as checksums and names.
outputs() {
	bin=$tmp/$1.bin dir=$tmp/work
	rm -rf "$dir" && mkdir -p "$dir" && cp "$2" "$dir/in.json.gz" && cp "$3" "$dir/next.json.gz" && cd "$dir" || exit 2
	# say NAME ARGUMENTS: runs one command, keeps what it prints and its status.
	say() {
		name=$1
		shift
		"$bin" "$@" --no-color >"$name.out" 2>"$name.err" </dev/null
		echo "status $?" >>"$name.err"
	}
	say check check in.json.gz
	say check_json check in.json.gz --json
	say convert_pftrace convert -i in.json.gz -o c.pftrace
	say convert_json convert -i in.json.gz -o c.json
	say check_output check c.pftrace --json
	for m in exact ctda hta; do
		say run_$m run -i in.json.gz -o $m.pftrace --method $m --report $m.report.json --segments --analysis all
		say chrome_$m run -i in.json.gz -o $m.json --method $m --flows all
		say slim_$m run -i in.json.gz -o $m.slim.pftrace --method $m --only-critical
		say slim_chrome_$m run -i in.json.gz -o $m.slim.json --method $m --only-critical
		say anonymous_$m run -i in.json.gz -o $m.anonymous.pftrace --method $m --anonymize --plain
		say text_$m report -i in.json.gz --method $m --analysis all
		say page_$m report -i in.json.gz --method $m --analysis all --html $m.html
		say json_$m report -i in.json.gz --method $m --analysis all --segments --json
		say diff_$m diff in.json.gz next.json.gz --method $m
		say diff_json_$m diff in.json.gz next.json.gz --method $m --json
	done
	say anonymous_chrome run -i in.json.gz -o anonymous.json --anonymize
	for t in gil explicit; do
		say threads_$t run -i in.json.gz -o $t.pftrace --threads $t --report $t.report.json --segments
	done
	say step run -i in.json.gz -o step.pftrace --step 1
	sha256sum -- *
}

differ=0 traces=0 compared=0
for f in "$@"; do
	next=$f
	[ $# -gt 1 ] && next=$1
	(outputs old "$f" "$next") >"$tmp/old.sums"
	(outputs new "$f" "$next") >"$tmp/new.sums"
	traces=$((traces + 1))
	compared=$((compared + $(wc -l <"$tmp/old.sums")))
	for name in $(sort "$tmp/old.sums" "$tmp/new.sums" | uniq -u | awk '{ print $2 }' | sort -u); do
		echo "differs: $(basename "$f") $name"
		differ=$((differ + 1))
	done
done
echo "$differ of $compared outputs of $traces traces differ"
[ "$compared" -gt 0 ] && [ "$differ" = 0 ]
