"""One run, one section of the page: what each instrument's section holds."""
