#!/bin/sh
# Runs `overlay run` over a folder of traces and prints a table: what came out, in what time, and
# with how much memory. Usage: bench/corpus.sh [FOLDER] [flags of run], FOLDER by default $OVERLAY_CORPUS or
# ../shared/traces.
set -u
cd "$(dirname "$0")/.." || exit 1
folder=${1:-${OVERLAY_CORPUS:-../shared/traces}}
[ $# -gt 0 ] && shift
bin=${OVERLAY:-bin/overlay}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

printf '%-44s %8s %8s %8s  %s\n' file events seconds 'peak MB' 'bound by'
for f in "$folder"/*.json.gz; do
	name=$(basename "$f" .json.gz | cut -c1-44)
	if ! "$bin" run -i "$f" -o "$tmp/o.pftrace" --timing "$@" >"$tmp/out" 2>"$tmp/err"; then
		printf '%-44s FAILED: %s\n' "$name" "$(tail -n 1 "$tmp/err")"
		continue
	fi
	printf '%-44s %8s %8s %8s  %s\n' "$name" "$(sed -n '2{s/ event.*//;s/,//g;p;}' "$tmp/out")" \
		"$(awk '$1 == "all" { print $2 }' "$tmp/err")" "$(awk '$1 == "peak" { print $3 }' "$tmp/err")" "$(grep -m1 '^bound by' "$tmp/out")"
done
