"""Several systems under the same instruments: `rushes.suite.init(folder)`, then `rushes.suite.run(file)`."""

from rushes._lazy import lazy

__all__, __getattr__ = lazy(__name__, __file__)
