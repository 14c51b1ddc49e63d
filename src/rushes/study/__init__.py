"""The human study as a service: invitations, tasks, the watch ledger, votes, adjudication, results."""

import rushes.study.packages  # says what to install, before anything needs it
from rushes._lazy import lazy

__all__, __getattr__ = lazy(__name__, __file__)
