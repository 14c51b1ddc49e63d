#!/bin/sh
# Install Rushes by its name from a package index on this machine, as users of PyPI would: pip, pipx and uvx.
#   sh scripts/try-index.sh [PYTHON]      PYTHON: the interpreter to install for (python3)
# pip, pipx and uv are the newest; the packages that Rushes needs come from the usual index, without constraints.
set -eu
unset PIP_CONSTRAINT PYTHONPATH
root=$(cd "$(dirname "$0")/.." && pwd)
python=${1:-python3}
place=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$place"' EXIT

sh "$root/scripts/local-index.sh" "$place"
"$python" -m venv "$place/tools"
"$place/tools/bin/pip" install -q --upgrade pip pipx uv
"$place/tools/bin/python" -u -m http.server --bind 127.0.0.1 --directory "$place" 0 >"$place/server.log" 2>&1 &
server=$!
until grep -q 'http://' "$place/server.log"; do kill -0 "$server"; sleep 0.1; done
url=$(sed -n 's,.*(\(http://[^)]*/\)).*,\1simple,p' "$place/server.log")
cd "$place"
wanted="rushes $(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$root/src/rushes/__init__.py")"

# says WHAT COMMAND…: the command must print the version that was built.
says() {
  what=$1
  shift
  said=$("$@") || { echo "$what: FAILED" >&2; exit 1; }
  [ "$said" = "$wanted" ] || { echo "$what: $said instead of $wanted" >&2; exit 1; }
  echo "$what: $said"
}

"$python" -m venv empty
tools/bin/pip --python empty install -q --extra-index-url "$url" rushes
says "pip install rushes" empty/bin/rushes --version
export PIPX_HOME="$place/pipx" PIPX_BIN_DIR="$place/bin" PIPX_MAN_DIR="$place/man"
tools/bin/pipx install -q --python "$python" --pip-args "--extra-index-url $url" rushes >/dev/null
says "pipx install rushes" bin/rushes --version
export UV_CACHE_DIR="$place/uv"
says "uvx rushes --version" tools/bin/uvx -q --python "$python" --index "$url" rushes --version
