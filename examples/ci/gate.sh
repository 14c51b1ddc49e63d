#!/usr/bin/env bash
# A gate for any pipeline: measure the candidate, hold it against the baseline, leave files that people and machines read.
#
#   CANDIDATE=clips/new BASELINE=clips/old METRICS=blur_score:10 bash gate.sh
#
# CANDIDATE and BASELINE are folders of clips, or runs (folders with run.json). Without BASELINE only the review signals
# count. REPEATS and METRICS have one entry per line. Exit codes: 0 holds, 3 does not hold, 1 cannot tell or bad input.
set -uo pipefail

: "${CANDIDATE:?a folder of clips or a run}"
BASELINE=${BASELINE:-} REPEATS=${REPEATS:-} METRICS=${METRICS:-} PROFILE=${PROFILE:-general}
FAIL_ON=${FAIL_ON:-reject} ALLOW_UNCLEAR=${ALLOW_UNCLEAR:-false} OUT=${OUT:-rushes-ci}
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

measured() { # FOLDER NAME [--fail-on …]: sets `run`
    run=$1
    if [ -e "$1/run.json" ]; then return; fi
    run=$OUT/$2
    rushes clip "$1" -o "$run" --overwrite --profile "$PROFILE" "${@:3}"
    note $?
}

checks=()
if [ "$FAIL_ON" != none ] && [ ! -e "$CANDIDATE/run.json" ]; then
    told clips
    checks=(--fail-on "$FAIL_ON" "${outputs[@]}")
fi
measured "$CANDIDATE" candidate ${checks[@]+"${checks[@]}"}
candidate=$run
report=$OUT/report.html

if [ -n "$BASELINE" ]; then
    measured "$BASELINE" baseline
    baseline=$run
    told gate
    asked=()
    while IFS= read -r line; do [ -n "$line" ] && asked+=(--metric "$line"); done <<<"$METRICS"
    while IFS= read -r line; do [ -n "$line" ] && asked+=(--repeat "$line"); done <<<"$REPEATS"
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
