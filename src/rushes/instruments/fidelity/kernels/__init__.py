"""Inner loops over two pictures: exact integers first, floats in a fixed order, one walk over the memory.

They are in C (`rushes.native`), which never reorders floating-point arithmetic: the same pictures give the same bits on
every processor.
"""
