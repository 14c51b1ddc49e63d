#!/bin/sh
# Build the sdist and the wheel and lay them out as a package index (PEP 503).
#   sh scripts/local-index.sh FOLDER      then: pip install --find-links FOLDER/simple/rushes rushes
# The wheel is made out of the sdist. One made out of the checkout must hold the same files with the same bytes.
set -eu
unset PYTHONPATH
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1/simple/rushes"
index=$(cd "$1" && pwd)
python=${PYTHON:-python3}
[ -x "$root/.venv/bin/python" ] && python=${PYTHON:-$root/.venv/bin/python}
"$python" -c 'import build' 2>/dev/null || { echo "the package build is needed: $python -m pip install build" >&2; exit 1; }

build() {
  "$python" -m build "$@" "$root" >"$index/build.log" 2>&1 || { tail -20 "$index/build.log" >&2; exit 1; }
}
build --outdir "$index/simple/rushes"
build --wheel --outdir "$index/checkout"
"$python" - "$index/simple/rushes/"*.whl "$index/checkout/"*.whl <<'END'
import sys, zipfile

from_sdist, from_checkout = ({name: wheel.read(name) for name in wheel.namelist()} for wheel in map(zipfile.ZipFile, sys.argv[1:]))
differ = sorted(name for name in from_sdist.keys() | from_checkout.keys() if from_sdist.get(name) != from_checkout.get(name))
if differ:
    sys.exit("the wheels made out of the sdist and out of the checkout differ in: " + ", ".join(differ[:9]))
END
rm -r "$index/checkout"
for file in "$index/simple/rushes/"rushes-*; do
  name=$(basename "$file")
  echo "<a href=\"$name\">$name</a>" >>"$index/simple/rushes/index.html"
  echo "built $name, $(wc -c <"$file") bytes"
done
echo '<a href="rushes/">rushes</a>' >"$index/simple/index.html"
