#!/bin/sh
# Install Rushes as users do and measure clips, on each Python 3.11 to 3.13 that is here: the wheel, by its name, once with
# the newest of everything that pyproject.toml allows, once with the oldest. All must give the same bytes.
#   sh scripts/try-pythons.sh [VERSION…]      VERSION: 3.11, 3.12 or 3.13; all three where left out
#   EXTRAS=web,query sh scripts/try-pythons.sh      the packages of these extras too, not only the core's
#   AGES=newest sh scripts/try-pythons.sh      not the oldest
#   CLIPS=FOLDER sh scripts/try-pythons.sh      measure these clips too, with `rushes clip`
#   INDEX=FOLDER sh scripts/try-pythons.sh      the wheel of scripts/local-index.sh FOLDER, instead of building one
# A Python is looked for on the PATH, then among pyenv's. One that is not here is named and left out. One that fails does
# not stop the others; the exit code is then 1.
set -u
unset PIP_CONSTRAINT PYTHONPATH
root=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
extras=${EXTRAS:-}
clips=${CLIPS:+$(cd "$CLIPS" && pwd)}
index=${INDEX:+$(cd "$INDEX" && pwd)}
tried=0 failed=0

if [ -z "$index" ]; then
  index=$place/index
  sh "$root/scripts/local-index.sh" "$index" || exit 1
fi

find_python() {
  "python$1" -c "" 2>/dev/null && command -v "python$1" && return
  ls -d "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python 2>/dev/null | tail -1
}

# try_one PYTHON HOME newest|oldest: the clips in $place/takes are made by the first and measured by all.
try_one() {
  "$1" -m venv "$2" || return 1
  : >"$2/pins.txt"
  if [ "$3" = oldest ]; then
    # shellcheck disable=SC2046
    "$2/bin/python" "$root/scripts/oldest.py" $(echo "$extras" | tr , ' ') >"$2/pins.txt" || return 1
  fi
  "$2/bin/pip" install -q -c "$2/pins.txt" --find-links "$index/simple/rushes" "rushes${extras:+[$extras]}" || return 1
  cd "$2" || return 1
  bin/rushes doctor >doctor.txt 2>&1 || { cat doctor.txt; return 1; }
  bin/python "$root/scripts/smoke.py" "$place/takes" >smoke.txt || return 1
  if [ -n "$clips" ]; then
    bin/rushes clip "$clips" -o real --json >real.json || return 1
    bin/python -c 'import rushes; run = rushes.read_run("real"); print(run, run.digest)' >>smoke.txt || return 1
  fi
  cat smoke.txt
  grep -v '^Python ' smoke.txt | tr '\n' ' ' >>"$place/digests.txt" && echo >>"$place/digests.txt"
}

for version in ${*:-3.11 3.12 3.13}; do
  python=$(find_python "$version" | tail -1)
  if [ -z "$python" ]; then
    echo "Python $version: not here, left out"
    continue
  fi
  for age in ${AGES:-newest oldest}; do
    echo "== Python $version, the $age of everything"
    if ! (try_one "$python" "$place/$version-$age" "$age"); then
      echo "Python $version, the $age of everything: FAILED" >&2
      [ -s "$place/$version-$age/pins.txt" ] && tr '\n' ' ' <"$place/$version-$age/pins.txt" >&2 && echo >&2
      failed=1
    fi
    rm -rf "${place:?}/$version-$age"
    tried=$((tried + 1))
  done
done
[ "$tried" -gt 0 ] || { echo "no Python 3.11 to 3.13 is here" >&2; exit 1; }
if [ -s "$place/digests.txt" ] && [ "$(sort -u "$place/digests.txt" | wc -l)" -ne 1 ]; then
  echo "the same clips gave different numbers: see the digests above" >&2
  failed=1
fi
exit "$failed"
