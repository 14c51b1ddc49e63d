"""Does the clip show what was asked for? Judges that answer questions about clips, and what each judge is worth."""
