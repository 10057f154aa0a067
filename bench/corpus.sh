#!/bin/sh
# Runs `overlay run` and `overlay check` over a folder of traces and prints a table: what came out, in what time, and
# with how much memory. Usage: bench/corpus.sh [FOLDER] [flags of run], FOLDER by default $OVERLAY_CORPUS or
# ../shared/traces.
set -u
cd "$(dirname "$0")/.." || exit 1
folder=${1:-${OVERLAY_CORPUS:-../shared/traces}}
[ $# -gt 0 ] && shift
bin=${OVERLAY:-bin/overlay}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# field FILE KEY: the value of a key in indented JSON; attribute KEY: that of an attribute of the trace.
field() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1" | head -n 1; }
attribute() { sed -n "/\"overlay.$1\"/{n;s/^ *\"value\": \"\{0,1\}\([^\",]*\).*/\1/p;}" "$tmp/c.json"; }

printf '%-44s %8s %8s %7s %15s %-14s %8s %8s  %s\n' file events slices flows 'tiled ns' 'bound by' seconds 'peak MB' problems
for f in "$folder"/*.json.gz; do
	name=$(basename "$f" .json.gz | cut -c1-44)
	if ! "$bin" run -i "$f" -o "$tmp/o.pftrace" --timing "$@" >"$tmp/out" 2>"$tmp/err"; then
		printf '%-44s FAILED: %s\n' "$name" "$(tail -n 1 "$tmp/err")"
		continue
	fi
	if ! "$bin" check "$tmp/o.pftrace" --json >"$tmp/c.json" 2>"$tmp/cerr"; then
		printf '%-44s CHECK FAILED: %s\n' "$name" "$(tail -n 1 "$tmp/cerr")"
		continue
	fi
	tiled=$(field "$tmp/c.json" tiled_ns)
	[ "$tiled" = "$(attribute window_ns)" ] && mark= || mark=" of $(attribute window_ns)"
	problems=$(sed -n '/"problems": {$/,/}/p' "$tmp/c.json" | tr -d ' \n{}' | sed 's/"problems"://')
	printf '%-44s %8s %8s %7s %15s %-14s %8s %8s  %s\n' "$name" "$(sed -n '2{s/ event.*//;s/,//g;p;}' "$tmp/out")" \
		"$(field "$tmp/c.json" slices)" "$(field "$tmp/c.json" flows)" "$tiled$mark" "$(attribute bound_by)" \
		"$(awk '$1 == "all" { print $2 }' "$tmp/err")" "$(awk '$1 == "peak" { print $3 }' "$tmp/err")" "${problems:-none}"
done
