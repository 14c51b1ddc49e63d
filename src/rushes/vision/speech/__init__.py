"""Trained networks that listen: where there is speech, whose voice it is, which words are said, how good it sounds."""
