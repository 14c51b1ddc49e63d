"""From a ratings CSV, as raters fill it in, to a ranking with its intervals."""

import csv

from rushes.core.selection import select
from rushes.instruments.preference import read_ratings, study_measurements
from rushes.study.exchange.ratings_csv import COLUMNS

PAIRS = [("amber", "birch"), ("birch", "cedar"), ("amber", "cedar")]

with open("ratings.csv", "w", newline="") as file:
    rows = csv.DictWriter(file, COLUMNS, restval="")
    rows.writeheader()
    for rater in range(4):
        for prompt in range(12):
            a, b = PAIRS[prompt % 3]
            row = {"sample_id": f"s{prompt}", "task_id": "T1", "prompt_id": f"p{prompt}", "rater_id": f"r{rater}"}
            row |= {"model_a": a, "model_b": b, "primary_tag": "Missed constraint"}
            rows.writerow(row | {"winner": "B" if (prompt + rater) % 5 == 0 else "A"})

votes = read_ratings("ratings.csv").votes
numbers = study_measurements(votes, rubric_version="0.1")
for elo in select(numbers, "bt_elo", labels="raw", exclusion="none"):
    between = elo.interval.text(digits=0) if elo.interval else elo.note
    print(f"{elo.place['system']}: {elo.value:.0f}, {between}")
