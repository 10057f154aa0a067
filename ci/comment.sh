#!/bin/sh
# Leaves a file as a comment on a pull request, and later runs write the same comment again:
#   comment.sh FILE NUMBER [NAME]
# The comment is known by a line that readers do not see, which names NAME (overlay-diff): other comments stay as they are.
# GITHUB_REPOSITORY says where; needs gh and its token (GH_TOKEN).
set -eu
[ $# -ge 2 ] || { sed -n '3,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
marker="<!-- overlay: ${3:-overlay-diff} -->"
comments=repos/$GITHUB_REPOSITORY/issues/$2/comments
body=$(mktemp)
trap 'rm -f "$body"' EXIT
{ echo "$marker"; cat "$1"; } >"$body"
id=$(gh api --paginate "$comments" --jq ".[] | select(.body | startswith(\"$marker\")) | .id" | head -n 1)
if [ -n "$id" ]; then
	gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" --field "body=@$body"
else
	gh api --silent --method POST "$comments" --field "body=@$body"
fi
