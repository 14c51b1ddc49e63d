"""What a generated set is called, and which set a run looked at."""

from __future__ import annotations

from pathlib import Path

from rushes.storage.runs import Run


def set_name(gen: str) -> str:
    """What a generated set is called: the last part of its path that is no pattern, without the ending of a file.

    >>> set_name("out/amber/"), set_name("out/amber/*.mp4"), set_name("s3://bucket/birch"), set_name("sets/cedar.txt")
    ('amber', 'amber', 'birch', 'cedar')
    """
    parts = [part for part in Path(gen).parts if not set(part) & set("*?[")]
    last = Path(parts[-1]) if parts else Path(gen)
    return (last.stem if last.suffix in (".txt", ".csv", ".npz") else last.name) or str(Path(gen).resolve().name)


def generated_set(run: Run) -> str:
    """What a run looked at, as it was named: the generated folder, or its set; where there are several, the run."""
    asked = run.info.get("asked")
    found = None if asked else next((subject.path for subject in run.subjects if subject.kind == "set"), None)
    places = [found] if found is not None else asked_for(run)
    return places[0] if len(places) == 1 else run.place


def asked_for(run: Run) -> list[str]:
    """What a run was asked to look at; of one over a file of poses and its truth, the folder of that file."""
    if "asked" not in run.info and run.subjects and run.subjects[0].kind == "pose":
        return [str(Path(run.subjects[0].path).parent)]
    asked = run.info.get("asked") or run.info.get("inputs") or ()
    return [str(place) for place in asked] if isinstance(asked, list) else []
