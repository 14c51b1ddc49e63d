"""Rows and columns put together so that what they share adds up highest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rushes.native import c_function


def best_columns(tables: NDArray[np.float64]) -> NDArray[np.int64]:
    """The column of each row in the assignment with the greatest sum, of every table of n × rows × columns.

    Inputs      a row or a column that must not be used together holds −∞
    Output      n × rows; −1 for a row without a column, where there are more rows than columns
    Ties        the same tables give the same answer, whatever else is asked with them. Rows choose in their order; of
                columns that would add up alike a free one comes before a taken one, and then the first: all alike,
                row k gets column k
    Edge cases  a table without an assignment that has a finite sum: `ValueError`
    Reference   Kuhn 1955; Jonker and Volgenant 1987; Crouse 2016

    >>> best_columns(np.array([[[5.0, 4.0], [4.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]])).tolist()
    [[1, 0], [0, 1]]
    """
    number, rows, columns = tables.shape
    turned = rows > columns
    given = np.ascontiguousarray(tables.transpose(0, 2, 1) if turned else tables, dtype=np.float64)
    less, more = sorted((rows, columns))
    found = np.empty((number, less), dtype=np.int64)
    wide, whole = np.empty(less + 2 * more), np.empty(less + 3 * more, dtype=np.int64)
    places = (array.ctypes.data for array in (wide, whole, found))
    call = c_function("greatest_sums", "float64* int64 int64 int64 float64* int64* int64*", "int64")
    if call(given.ctypes.data, number, less, more, *places):
        raise ValueError("no assignment has a finite sum")
    if not turned:
        return found
    chosen = np.full((number, rows), -1, dtype=np.int64)
    np.put_along_axis(chosen, found, np.arange(less), axis=1)
    return chosen
