"""Where raters come from: invitations, open links, consent, pay."""

from rushes.study.packages import require

require()  # says what to install, before anything needs it
