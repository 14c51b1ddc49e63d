#!/bin/sh
# Build the wheel, install it into an empty environment and run the demo from there, far from the checkout.
#   sh scripts/try-wheel.sh [EXTRAS]      EXTRAS: all (the default), or a list such as face,report; none for the core alone
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
extras=${1:-all}
python=${PYTHON:-python3}
[ -x "$root/.venv/bin/python" ] && python=${PYTHON:-$root/.venv/bin/python}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

PIP_CONSTRAINT="$root/constraints.txt" PYTHON="$python" sh "$root/scripts/local-index.sh" "$place"
wheel=$(ls "$place"/simple/rushes/rushes-*.whl)

"$python" -m venv "$place/venv"
[ "$extras" = none ] && wanted=$wheel || wanted="$wheel[$extras]"
"$place/venv/bin/pip" install -q -c "$root/constraints.txt" "$wanted"

cd "$place"
unset PYTHONPATH
"$place/venv/bin/python" -c 'import rushes, sys; assert rushes.__file__.startswith(sys.prefix), rushes.__file__'
"$place/venv/bin/rushes" doctor >"$place/doctor.txt" || { cat "$place/doctor.txt"; exit 1; }
"$place/venv/bin/rushes" demo -o "$place/demo"
echo "the wheel works: rushes demo ran from an empty environment with extras: $extras"
