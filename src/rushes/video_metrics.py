"""The specification's own command line: `python -m rushes.video_metrics --root_dir … --path_gen … --path_gt …`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rushes.core.errors import RushesError
from rushes.core.machine.files import replacing
from rushes.core.machine.interrupt import stopped_line
from rushes.core.words.options import in_shell
from rushes.instruments.distribution.evaluate import need_writable
from rushes.instruments.distribution.protocols import METRICS, PROTOCOLS, SPECIFICATION
from rushes.instruments.distribution.seed.video_metrics import VideoMetrics, calculate_video_metrics

__all__ = ["calculate_video_metrics", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the results and, with `--write_metric_to`, write them as JSON. Returns the exit code."""
    options = vars(_parser().parse_args(arguments))
    target = options.pop("write_metric_to")
    try:
        need_writable(target)
        with in_shell():
            results = calculate_video_metrics(**options)
        if target:
            _write(Path(target), results)
    except RushesError as error:
        print(f"rushes: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"rushes: {error.filename or 'system'}: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as error:
        print(stopped_line(error), file=sys.stderr)
        return 130
    print(results)
    if target:
        print(target)
    return 0


def _write(target: Path, results: VideoMetrics) -> None:
    """The document's keys at their places; beside them signatures and weights files, which make them numbers."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as out:
        out.write(json.dumps(results.labelled(), indent=2) + "\n")


def _parser() -> argparse.ArgumentParser:
    """All but `--write_metric_to` are arguments of `calculate_video_metrics`, whose own default a device has."""
    parser = argparse.ArgumentParser(
        prog="python -m rushes.video_metrics",
        description="FID-VID and FVD between generated and ground-truth videos.",
        epilog="Example: python -m rushes.video_metrics --root_dir data --path_gen gen/ --path_gt gt/ --type fvd",
    )
    parser.add_argument("--root_dir", required=True, help="root of the relative paths")
    parser.add_argument("--path_gen", required=True, help="generated videos")
    parser.add_argument("--path_gt", required=True, help="ground-truth videos")
    parser.add_argument("--type", nargs="+", default=["fid-vid", "fvd"], choices=METRICS, dest="metrics")
    parser.add_argument("--sample_duration", type=int, default=16, help="frames of one segment (16)")
    parser.add_argument("--batch_size", type=int, default=1, help="1 leaves it to Rushes; no value depends on it")
    parser.add_argument("--num_workers", type=int, default=16, help="decoding processes (16, at most the cores)")
    device = "cpu, cuda or cuda:0 (default: the GPU if there is one)"
    parser.add_argument("--device", default=argparse.SUPPRESS, help=device)
    parser.add_argument("--protocol", default=SPECIFICATION, help=", ".join(PROTOCOLS))
    parser.add_argument(
        "--weights", nargs="+", default=[], help="weights files (RUSHES_WEIGHTS, tools/eval_fvd/, pulled)"
    )
    parser.add_argument("--write_metric_to", help="JSON file for the results")
    return parser


if __name__ == "__main__":
    sys.exit(main())
