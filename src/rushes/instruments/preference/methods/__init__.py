"""How raters are asked: what a trial shows, what they answer, and what becomes of the answers."""
