#!/bin/sh
# Compares two traces, or the runs of two sides, for a change under review:
#   compare.sh BEFORE AFTER [PERCENT] [FOLDER] [FLAG]
# BEFORE and AFTER are a trace or a job each, or patterns and lists of runs, a line each. Writes FOLDER/comment.md and
# FOLDER/paths.svg. The status is that of `overlay diff`: 3 when AFTER is surely slower by more than PERCENT (default 5), with
# the FLAG --fail-if-unsure also when the noise leaves that open. OVERLAY names the program.
set -u
[ $# -ge 2 ] || { sed -n '3,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=${4:-overlay-diff} percent=${3:-5} flag=${5:-} before=$1 after=$2
mkdir -p -- "$folder" || exit 1
IFS='
'
# shellcheck disable=SC2086 # patterns and lines become files
set -- $before
runs=$#
# shellcheck disable=SC2086
set -- $after
# "--" ends the flags: a name that begins with "-" is a file.
if [ $((runs + $#)) -gt 2 ]; then
	for run in "$@"; do
		set -- "$@" "--against=$run"
		shift
	done
	set -- "$@" --
	after=
else
	set -- --
fi
# shellcheck disable=SC2086
set -- "$@" $before $after
"${OVERLAY:-overlay}" diff --fail-if-slower "$percent" ${flag:+"$flag"} --markdown --svg "$folder/paths.svg" "$@" >"$folder/comment.md"
status=$?
[ -s "$folder/comment.md" ] || echo "overlay could not compare the traces: see the log." >"$folder/comment.md"
exit $status
