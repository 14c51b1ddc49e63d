"""Is a candidate still as good as its baseline?"""
