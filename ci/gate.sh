#!/bin/sh
# Compares runs with those before them, for a change under review or for every night:
#   gate.sh HISTORY AFTER [PERCENT] [FOLDER] [FLAG]
# HISTORY is a folder of summaries, AFTER a trace or a job, or patterns and lists of runs, a line each. Adds what `overlay gate`
# says to FOLDER/comment.md. The status is 3 when every run is surely slower than those before it by more than PERCENT (default
# 5), with the FLAG --fail-if-unsure also when that is open, and 2 when they do not do the same work. RUN names the runs
# (default: the time); with ADD=true they become part of the history. OVERLAY names the program.
set -u
[ $# -ge 2 ] || { sed -n '3,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
history=$1 percent=${3:-5} folder=${4:-overlay-diff} flag=${5:-} name=${RUN:-$(date -u +%Y%m%dT%H%M%SZ)}
mkdir -p -- "$folder" "$history" || exit 1
IFS='
'
# shellcheck disable=SC2086 # patterns and lines become files
set -- $2
number=0 slower=0 status=0
before=$(find "$history" -maxdepth 1 -name 'run=*' | head -n 1)
printf '\n### Beside the runs before\n\n```\n' >>"$folder/comment.md"
for run in "$@"; do
	number=$((number + 1)) called=$name judged=0
	[ $# = 1 ] || called=$name-$number
	if [ -n "$before" ]; then
		"${OVERLAY:-overlay}" gate --history "$history" --run "$called" --fail-if-slower "$percent" ${flag:+"$flag"} -- "$run" >>"$folder/comment.md"
		judged=$?
	else
		echo "$called: the first of the history" >>"$folder/comment.md"
	fi
	case $judged in
	0) ;;
	3) slower=$((slower + 1)) ;;
	*) status=$judged ;;
	esac
	case $judged/${ADD:-} in [03]/true) "${OVERLAY:-overlay}" export -i "$run" -o "$history" --tables summary --run "$called" || status=1 ;; esac
done
echo '```' >>"$folder/comment.md"
[ $status = 0 ] && [ $slower = $# ] && status=3
exit $status
