"""Several systems under the same instruments: `rushes.suite.init(folder)`, then `rushes.suite.run(file)`."""

from rushes.suite.draft import init as init
from rushes.suite.file import read as read
from rushes.suite.folder import run as run
