#!/bin/sh
# Install the core into an empty environment of each Python 3.11 to 3.13 that is here, and measure clips with it.
# Without constraints.txt, as users do: what is newest for each Python has to work.
#   sh scripts/try-pythons.sh [VERSION…]      VERSION: 3.11, 3.12 or 3.13; all three where left out
# A Python is looked for on the PATH, then among pyenv's. One that is not here is named and left out.
set -eu
unset PIP_CONSTRAINT PYTHONPATH
root=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
tried=0

find_python() {
  "python$1" -c "" 2>/dev/null && command -v "python$1" && return
  ls -d "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python 2>/dev/null | tail -1
}

for version in ${*:-3.11 3.12 3.13}; do
  python=$(find_python "$version" | tail -1)
  if [ -z "$python" ]; then
    echo "Python $version: not here, left out"
    continue
  fi
  home="$place/$version"
  "$python" -m venv "$home"
  "$home/bin/pip" install -q "$root"
  (cd "$home" && { bin/rushes doctor >doctor.txt || { cat doctor.txt; exit 1; }; } && bin/python "$root/scripts/smoke.py")
  tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || { echo "no Python 3.11 to 3.13 is here" >&2; exit 1; }
