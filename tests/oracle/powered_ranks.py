"""Rank sets by the code of Chatzi et al. 2024, on the votes that it comes with: people's, Claude's, GPT-4's, GPT-3.5's.

    git clone https://github.com/Networks-Learning/prediction-powered-ranking /tmp/ranking
    python tests/oracle/powered_ranks.py /tmp/ranking tests/goldens/powered_ranks.json

Twelve systems, 990 comparisons with people's votes and all others with the judge's alone; seed 1, alpha 0.05. What goes
into a rank set is how often each pair had each outcome: rows of first, second, people's outcome, judge's outcome, count
(0 first won, 1 second won, 2 tie).
"""

import json
import sys
from collections import Counter
from pathlib import Path

OUTCOME = {"model_a": 0, "model_b": 1}
SEED, ALPHA, VOTES = 1, 0.05, 1000


def counted(models, judge, people=None):
    rows = Counter()
    for place, one in enumerate(judge):
        names = (one["model_a"], one["model_b"])
        outcomes = [OUTCOME.get(one["winner"], 2)]
        if people is not None:
            assert (people[place]["model_a"], people[place]["model_b"]) == names
            outcomes.insert(0, OUTCOME.get(people[place]["winner"], 2))
        rows[(*map(models.index, names), *outcomes)] += 1
    return [[*row, count] for row, count in sorted(rows.items())]


def main(checkout, out):
    sys.path.insert(0, str(checkout))
    from src import data_process, estimate, ranksets

    config = json.loads((checkout / "scripts" / "config.json").read_text())
    models, size = config["models"], len(config["models"])
    people = data_process.input_json(checkout / config["human_file"])
    found = {"systems": models, "level": 1 - ALPHA, "judges": {}}
    for name, file in zip(config["judges"], config["llm_files"], strict=True):
        answers = data_process.input_json(checkout / file)
        human, llm = data_process.get_common_instances(SEED, people, answers, models)
        human, llm = (data_process.filter_data(SEED, rows, models) for rows in (human, llm))
        few_human, few_llm = (data_process.filter_data(SEED, rows, models, n=VOTES) for rows in (human, llm))
        rest = data_process.get_big_dataset_llm(llm, few_llm)
        small = data_process.summarize_dataset(models, few_llm, few_human)
        big = data_process.summarize_dataset(models, rest)
        weight = estimate.lhat_opt(size, small, big)
        share, sigma = estimate.estimate(size, small, big, lhat=weight)
        alone = estimate.sample_avg(size, small, "human")
        found["judges"][name] = {
            "voted": counted(models, few_llm, few_human),
            "judged": counted(models, rest),
            "weight": float(weight),
            "shares": share[:, 0].tolist(),
            "ranks": ranksets.find_ranksets(size, share, sigma, ALPHA),
            "people": ranksets.find_ranksets(size, *alone, ALPHA),
        }
    out.write_text(json.dumps(found, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
