"""The tasks of a run in shards: clips, and between them the shards that should be full by then.

Workers take tasks in order. The task of making a shard stands so far behind its clips that they are finished when its
turn comes; where one is not (a clip that hangs), the driver makes the shard at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import merge
from typing import TypeVar

from rushes.storage.lazy import LazySequence
from rushes.storage.runs.packing import Packed
from rushes.storage.runs.writer import RunWriter
from rushes.storage.shards.build import ShardJob
from rushes.storage.shards.index import Shard
from rushes.storage.shards.spool import SpoolPlace, Stored
from rushes.storage.shards.writer import ShardedWriter

Task = TypeVar("Task")
Lost = TypeVar("Lost")
_BEHIND = 256
"""Clips between the last clip of a shard and the task of making it: more than workers hold at a time."""


class Schedule(LazySequence[Task | ShardJob]):
    """Tasks made when their turn comes.

    `clips` gives for each clip to measure the number of its shard, in order; `task` makes the task of a clip.
    """

    def __init__(
        self,
        clips: Sequence[int],
        shards: Sequence[int],
        *,
        task: Callable[[int], Task],
        job: Callable[[int], ShardJob],
    ) -> None:
        self._task, self._job = task, job
        self._items: list[int] = []
        """A clip's place in `clips`, or −1 − the number of a shard."""
        last = {number: place for place, number in enumerate(clips)}
        due = sorted((last.get(number, -1) + _BEHIND, 1, number) for number in shards)
        for _, is_shard, number in merge(((clip, 0, clip) for clip in range(len(clips))), due):
            self._items.append(-1 - number if is_shard else number)

    def __len__(self) -> int:
        return len(self._items)

    def _at(self, position: int) -> Task | ShardJob:
        item = self._items[position]
        return self._task(item) if item >= 0 else self._job(-1 - item)


def spool_of(writer: RunWriter) -> SpoolPlace | None:
    """Where workers put what they finish; None where it goes through this process."""
    return writer.place if isinstance(writer, ShardedWriter) else None


def schedule(
    writer: RunWriter, ids: Sequence[str], todo: Sequence[int], task: Callable[[int], Task]
) -> Sequence[Task | ShardJob]:
    """The tasks of a run: a task for each clip of `todo` (places in `ids`), and the shards of a run that has any."""
    if not isinstance(writer, ShardedWriter):
        return [task(number) for number in range(len(todo))]
    wanted = writer.plan(ids, [ids[n] for n in todo])
    numbers = [writer.shard_of(ids[n]) for n in todo]
    return Schedule(numbers, wanted, task=task, job=writer.job)


def store_outcome(
    writer: RunWriter,
    task: Task | ShardJob,
    outcome: Packed | Stored | Shard | Lost | None,
    *,
    crashed: Callable[[Task, Lost], Packed],
) -> bool:
    """Keep what came of a task; whether that was a clip. `crashed` makes the row of a clip whose task was lost."""
    if isinstance(task, ShardJob):
        if isinstance(outcome, Shard) and isinstance(writer, ShardedWriter):
            writer.built(outcome)  # one that was not made, for whatever reason, is made at the end
        return False
    if isinstance(outcome, (Packed, Stored)):
        writer.add(outcome)
    else:
        writer.add(crashed(task, outcome))  # type: ignore[arg-type]
    return True
