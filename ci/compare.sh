#!/bin/sh
# Compares two traces for a change under review:
#   compare.sh BEFORE AFTER [PERCENT] [FOLDER]
# Writes FOLDER/comment.md and FOLDER/paths.svg. The status is that of `overlay diff`: 3 when AFTER is slower by more than
# PERCENT (default 5). OVERLAY names the program.
set -u
[ $# -ge 2 ] || { sed -n '3,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=${4:-overlay-diff}
mkdir -p "$folder" || exit 1
"${OVERLAY:-overlay}" diff "$1" "$2" --fail-if-slower "${3:-5}" --markdown --svg "$folder/paths.svg" >"$folder/comment.md"
status=$?
[ -s "$folder/comment.md" ] || echo "overlay could not compare the traces: see the log." >"$folder/comment.md"
exit $status
