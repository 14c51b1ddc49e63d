#!/usr/bin/env bash
# A gate for any pipeline: measure the candidate, compare it with the baseline, leave files that people and machines read.
#
#   CANDIDATE=runs/new-fidelity BASELINE=runs/old-fidelity METRICS=psnr:0.5 bash gate.sh
#
# CANDIDATE, BASELINE and each line of REPEATS are a folder of clips or a run (a folder with run.json). Without BASELINE
# only the review signals count. With REFERENCES, a folder of reference clips, folders of clips are compared by rushes
# fidelity. Without it they are compared by rushes clip, which does not judge the picture: such a gate finds losses, but
# holds only if rushes.toml has allow-unjudged = true below [gate]. METRICS has one NAME or NAME:MARGIN per line.
# PROFILE and FAIL_ON override rushes.toml; if neither says what to fail on, it is reject (none: no such check).
# Exit codes: 0 holds, 3 does not hold, 1 cannot tell or bad input.
set -uo pipefail

: "${CANDIDATE:?a folder of clips or a run}"
BASELINE=${BASELINE:-} REPEATS=${REPEATS:-} REFERENCES=${REFERENCES:-} METRICS=${METRICS:-} PROFILE=${PROFILE:-}
FAIL_ON=${FAIL_ON:-} ALLOW_UNCLEAR=${ALLOW_UNCLEAR:-false} OUT=${OUT:-rushes-ci}
mkdir -p "$OUT"
worst=0

# 3 (does not hold) beats everything, and anything beats 0.
note() { if [ "$1" -eq 3 ] || { [ "$1" -ne 0 ] && [ "$worst" -eq 0 ]; }; then worst=$1; fi; }

# On GitHub into the step summary and as annotations; elsewhere into a file.
told() {
    if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
        outputs=(--junit "$OUT/$1.xml" --summary github --annotate)
    else
        outputs=(--junit "$OUT/$1.xml" --summary "$OUT/$1.md")
    fi
}

is_run() { [ -e "$1/run.json" ]; }
has_signals() { grep -q '"instrument": *"clip"' "$1/run.json"; }
judged=(${PROFILE:+--profile "$PROFILE"})

# Sets run to what the gate compares: $1 if it is a run, else its clips, measured into $OUT/$2 or $OUT/$2-fidelity.
run_of() {
    run=$1
    if is_run "$run"; then return; fi
    run=$OUT/$2${REFERENCES:+-fidelity}
    if [ -n "$REFERENCES" ]; then
        rushes fidelity "$1" "$REFERENCES" -o "$run" --overwrite
    else
        rushes clip "$1" -o "$run" --overwrite --allow-unjudged ${judged[@]+"${judged[@]}"}
    fi
    local code=$?
    [ "$code" -eq 3 ] || note "$code" # rushes.toml may say fail-on; it is the candidate that is judged
}

# What the project's own file says holds, unless FAIL_ON was given.
case ${FAIL_ON:-$(rushes config --json)} in
"$FAIL_ON" | *'"command":"clip","option":"--fail-on"'*) ;;
*) FAIL_ON=reject ;;
esac
checks=()
if [ "$FAIL_ON" != none ]; then
    told clips
    checks=(${FAIL_ON:+--fail-on "$FAIL_ON"} "${outputs[@]}")
fi

if ! is_run "$CANDIDATE"; then
    run=$OUT/candidate
    rushes clip "$CANDIDATE" -o "$run" --overwrite ${judged[@]+"${judged[@]}"} ${checks[@]+"${checks[@]}"}
    note $?
else
    run=$CANDIDATE
    if [ "$FAIL_ON" = none ]; then :
    elif has_signals "$run"; then # stored numbers, judged again where a profile was given
        rushes clip "$run" ${judged[@]+"${judged[@]}"} "${checks[@]}"
        note $?
    else
        echo "gate: $run has no review signals, so FAIL_ON is not checked" >&2
    fi
fi
candidate=$run
report=$OUT/report.html

if [ -n "$BASELINE" ]; then
    if [ -n "$REFERENCES" ]; then
        run_of "$CANDIDATE" candidate
        candidate=$run
    fi
    run_of "$BASELINE" baseline
    baseline=$run
    told gate
    asked=()
    while IFS= read -r line; do [ -n "$line" ] && asked+=(--metric "$line"); done <<<"$METRICS"
    count=0
    while IFS= read -r line; do
        if [ -n "$line" ]; then
            run_of "$line" "repeat$((count += 1))"
            asked+=(--repeat "$run")
        fi
    done <<<"$REPEATS"
    [ "$ALLOW_UNCLEAR" = true ] && asked+=(--allow-unclear)
    rushes gate "$baseline" "$candidate" ${asked[@]+"${asked[@]}"} "${outputs[@]}"
    note $?
    report=$OUT/compare.html
    rushes compare "$baseline" "$candidate" -o "$report" >/dev/null || report=
else
    rushes report "$candidate" -o "$report" >/dev/null || report=
fi

case $worst in 0) answer=holds ;; 3) answer=fails ;; *) answer=unclear ;; esac
if [ -n "${GITHUB_OUTPUT:-}" ]; then printf 'report=%s\nanswer=%s\n' "$report" "$answer" >>"$GITHUB_OUTPUT"; fi
echo "gate: $answer${report:+, see $report}"
exit "$worst"
