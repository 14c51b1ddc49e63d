"""Numbers that another program measures: libvmaf in an ffmpeg that is pulled, and called: GPL, never linked or shipped.

We decode and pair; the program is given raw pictures through one pipe, in turns (generated, reference, generated …),
and writes its log. No file is made on the way, and neither side holds more than a few pictures.
"""
