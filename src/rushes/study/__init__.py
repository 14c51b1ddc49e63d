"""The human study as a service: invitations, tasks, the watch ledger, votes, adjudication, results.

Reading and writing files of votes (`exchange/`) needs no database; what does need one says what to install.
"""

from rushes._lazy import lazy
from rushes.study.packages import require

__all__, _imported = lazy(__name__, __file__)


def __getattr__(name: str) -> object:
    if name in __all__:
        require()
    return _imported(name)
