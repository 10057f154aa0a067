#!/bin/sh
# Times the stages of `overlay run` on a folder of traces, in the form that benchstat reads:
#   bench/run.sh >old.txt; …change…; make build; bench/run.sh >new.txt; go tool -modfile=tools/go.mod benchstat old.txt new.txt
# COUNT runs of each trace (10); MIN bytes of input, smaller ones are left out (300000); the folder is $OVERLAY_CORPUS or
# ../shared/traces; the program is $OVERLAY or bin/overlay. Runs take turns, so that a slow moment hits all traces.
set -eu
cd "$(dirname "$0")/.."
folder=${OVERLAY_CORPUS:-../shared/traces}
bin=${OVERLAY:-bin/overlay}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

echo "goos: $(go env GOOS)"
echo "goarch: $(go env GOARCH)"
echo "cpu: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1) ($(getconf _NPROCESSORS_ONLN) online)"
echo "commit: $(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
echo "command: overlay run -i TRACE -o FILE.pftrace --timing"

i=0
while [ $i -lt "${COUNT:-10}" ]; do
	for f in "$folder"/*.json.gz; do
		[ "$(wc -c <"$f")" -ge "${MIN:-300000}" ] || continue
		name=$(basename "$f" .json.gz | tr -c 'A-Za-z0-9\n' '_' | cut -c1-40)
		"$bin" run -i "$f" -o "$tmp/o.pftrace" --quiet --timing 2>"$tmp/t" >/dev/null
		awk -v name="$name" '
			$1 == "stage" { next }
			$1 == "peak" { peak = $3; next }
			{ stage[n++] = $1; s[$1] = $2 }
			END { for (k = 0; k < n; k++) printf "BenchmarkRun/%s/%s 1 %.0f ns/op%s\n", name, stage[k], s[stage[k]] * 1e9,
				stage[k] == "all" ? sprintf(" %.0f B-peak", peak * 1e6) : "" }' "$tmp/t"
	done
	i=$((i + 1))
done
