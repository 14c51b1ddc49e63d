"""What can go wrong with a study.

::

    InputError
    └── StudyError      a study, a pair, a file or a request is not what was expected
        └── NotAllowed  an invitation, a session or a token is unknown, used or expired: ask for a new invitation
"""

from __future__ import annotations

from rushes.core.errors import InputError


class StudyError(InputError):
    """A study cannot do what was asked: the message says what was expected and what to do next."""


class NotAllowed(StudyError):
    """An invitation, a session or a media token is unknown, used or expired: ask for a new invitation."""
