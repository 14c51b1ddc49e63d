#!/usr/bin/env bash
# FID-VID and FVD of many result folders, one after the other; `bash tools/batch_eval.sh --help` explains.
set -euo pipefail

usage() {
    cat <<'END'
Usage: bash tools/batch_eval.sh RESULTS_DIR FIRST LAST [DEVICE]

FID-VID and FVD of the numbered result folders of RESULTS_DIR, from number FIRST to number LAST.

  RESULTS_DIR  holds one folder for each result, with a number in its name: 401, step_401, 401-final
               (the last number of a name counts). In each, one folder whose name begins with gen or pred
               holds the generated clips, and one whose name begins with gt, real or ground the real ones.
               The real clips may also lie in such a folder of RESULTS_DIR itself, once for all.
  FIRST, LAST  the first and the last number to evaluate: 401 401 is one folder
  DEVICE       cuda, cuda:0 or cpu; the GPU where there is one, when left out

Each folder gets a results.json, and RESULTS_DIR a summary.csv of all that were evaluated.
A folder that fails is named, and the others go on; the exit code is then 1.

Variables: PYTHON is the interpreter (python3; if that lacks what Rushes needs, the checkout's .venv is used),
METRICS the metrics ("fid-vid fvd"), SAMPLE_DURATION the frames of a segment (16).

Example: bash tools/batch_eval.sh results 401 401 cuda
END
}

fail() {
    echo "batch_eval: $1" >&2
    exit 1
}

# The one folder in $1 whose name begins with one of the other words; nothing where there is none.
folder_named() {
    local parent=$1 word found=""
    shift
    for word in "$@"; do
        for place in "$parent/$word"*/; do
            [ -d "$place" ] || continue
            [ -z "$found" ] || fail "$parent: expected one folder of $*; found $(basename "$found") and $(basename "$place")"
            found=${place%/}
        done
    done
    echo "$found"
}

case "${1:-}" in
-h | --help)
    usage
    exit 0
    ;;
esac
[ $# -eq 3 ] || [ $# -eq 4 ] || {
    usage >&2
    exit 2
}
results=${1%/} first=$2 last=$3 device=${4:-}
[ -d "$results" ] || fail "$1: expected a folder of results; nothing is there"
for number in "$first" "$last"; do
    [[ $number =~ ^[0-9]+$ ]] || fail "expected the numbers of the first and the last folder; got $number"
done
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-$(command -v python3 || echo "$tools/../.venv/bin/python")}
command -v "$python" >/dev/null || fail "$python: no such Python; set PYTHON to one, or run \`make setup\` in $(dirname "$tools")"
read -r -a metrics <<<"${METRICS:-fid-vid fvd}"

done_folders=() failed=0 seen=0
for folder in "$results"/*/; do
    folder=${folder%/}
    [[ $(basename "$folder") =~ ([0-9]+)[^0-9]*$ ]] || continue
    number=$((10#${BASH_REMATCH[1]}))
    [ "$number" -ge $((10#$first)) ] && [ "$number" -le $((10#$last)) ] || continue
    seen=1
    gen=$(folder_named "$folder" gen pred) && gt=$(folder_named "$folder" gt real ground) &&
        { [ -n "$gt" ] || gt=$(folder_named "$results" gt real ground); } || {
        failed=1
        continue
    }
    if [ -z "$gen" ] || [ -z "$gt" ]; then
        echo "batch_eval: $folder: expected a gen* or pred* and a gt*, real* or ground* folder; left out" >&2
        failed=1
        continue
    fi
    echo "== $folder"
    if "$python" "$tools/video_metrics/metric_calculator.py" --root_dir "$results" \
        --path_gen "$(cd "$gen" && pwd)" --path_gt "$(cd "$gt" && pwd)" --type "${metrics[@]}" \
        --sample_duration "${SAMPLE_DURATION:-16}" ${device:+--device "$device"} \
        --write_metric_to "$folder/results.json"; then
        done_folders+=("$folder")
    else
        code=$?
        [ "$code" -ne 130 ] || exit 130
        echo "batch_eval: $folder failed" >&2
        failed=1
    fi
done
[ "$seen" -eq 1 ] || fail "$results: no folder with a number from $first to $last in its name"
if [ ${#done_folders[@]} -gt 0 ]; then
    "$python" - "$results/summary.csv" "${done_folders[@]}" <<'END'
import csv, json, pathlib, sys

target, folders = sys.argv[1], [pathlib.Path(name) for name in sys.argv[2:]]
rows = [(folder.name, json.loads((folder / "results.json").read_text())) for folder in folders]
columns = list(dict.fromkeys(key for _, values in rows for key in values if isinstance(values[key], float)))
with open(target, "w", newline="") as out:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["result", *columns])
    writer.writerows([name, *(values.get(key, "") for key in columns)] for name, values in rows)
END
    echo "$results/summary.csv"
fi
exit "$failed"
