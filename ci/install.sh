#!/bin/sh
# Puts the program `overlay` into a folder, from a release on GitHub, and checks its sum:
#   install.sh OWNER/REPOSITORY TAG FOLDER
# TAG is a tag of a release; anything else, a branch or a commit, takes the latest one. Needs gh and its token (GH_TOKEN).
set -eu
[ $# -eq 3 ] || { sed -n '3,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) echo "install.sh: no release for $(uname -s)" >&2; exit 1 ;; esac
case $(uname -m) in x86_64 | amd64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) echo "install.sh: no release for $(uname -m)" >&2; exit 1 ;; esac
case $2 in v[0-9]*.[0-9]*.[0-9]*) tag=$2 ;; *) tag= ;; esac
mkdir -p "$3"
cd "$3"
# shellcheck disable=SC2086 # no tag, no argument
gh release download $tag --repo "$1" --clobber --pattern "overlay_*_${os}_${arch}.tar.gz" --pattern SHA256SUMS
archive=$(ls overlay_*_"${os}_${arch}".tar.gz)
grep -F "  $archive" SHA256SUMS >sum || { echo "install.sh: SHA256SUMS does not name $archive" >&2; exit 1; }
if command -v sha256sum >/dev/null; then sha256sum -c sum >&2; else shasum -a 256 -c sum >&2; fi
tar -xzf "$archive" overlay
rm -f "$archive" SHA256SUMS sum
