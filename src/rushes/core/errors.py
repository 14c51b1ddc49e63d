"""The error tree. Everything Rushes raises on purpose is a `RushesError`.

::

    RushesError                  anything the user can act on; the command line prints it as one line
    ├── InputError               a file or an argument is not what was expected
    │   ├── MediaError           a clip cannot be opened or decoded
    │   ├── RunError             a run directory cannot be read, written or continued
    │   ├── RemoteError          a bucket or an object cannot be used
    │   │   ├── Vanished         … because it is not there, or not the one that was listed
    │   │   └── Unreachable      … because the bucket does not answer
    │   ├── RankingError         votes that no ranking can be made of
    │   └── StudyError           a study cannot do what was asked
    │       └── NotAllowed       … because this person may not, or not yet
    ├── MissingDependency        an optional package or model is not there; says how to get it
    ├── WeightsError             a model file is not the one that was wanted
    │   └── WeightsNotFound      … because it is nowhere; a FileNotFoundError too
    ├── DefinitionError          a number or its definition is malformed
    ├── DefinitionMismatch       two numbers with different signatures were put together
    └── MetricComputationError   a sweep cannot be measured

Each is a name of `rushes`; those that belong to one instrument are defined there. A message says what was expected,
what came, and in which file; where there is a next step, it ends with it.
"""

from __future__ import annotations

__all__ = [
    "DefinitionError",
    "DefinitionMismatch",
    "InputError",
    "MediaError",
    "MissingDependency",
    "RunError",
    "RushesError",
    "WeightsError",
    "WeightsNotFound",
]


class RushesError(Exception):
    """Root of every error a user can act on.

    Its text is one printable line whatever names and cells it quotes: a line break becomes a space, and what a terminal
    would obey or could not encode is spelt out.

    >>> str(RushesError("take\\n1\\x1b[2J.mp4: no such file"))
    'take 1\\\\x1b[2J.mp4: no such file'
    """

    def __str__(self) -> str:
        text = super().__str__()
        if text.isprintable():
            return text
        line = " ".join(text.splitlines()).replace("\t", " ")
        return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in line)


class InputError(RushesError):
    """A file or an argument is not what was expected: fix the input and run again."""


class MediaError(InputError):
    """A clip cannot be opened or decoded: re-export it, or remove it from the set."""


class RunError(InputError):
    """A run directory cannot be read, written or continued: free it, or choose another with -o."""


class MissingDependency(RushesError):
    """An optional package or model is missing: run the command in the message."""


class WeightsError(RushesError):
    """A model file has the wrong digest or layout: fetch the one named in the message."""


class WeightsNotFound(WeightsError, FileNotFoundError):
    """Weights are in none of the places that are searched: run the command in the message, or bring the file."""


class DefinitionError(RushesError):
    """A number or its definition is malformed: give it the parameters, the count or the note it lacks."""


class DefinitionMismatch(RushesError):
    """Two numbers with different signatures were put together: recompute one under the other's definition."""
