"""Where raters come from: invitations, open links, consent, pay."""
