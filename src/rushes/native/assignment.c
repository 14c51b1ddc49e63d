/* The assignment of rows to columns with the greatest sum (see instruments/pose/pairing/assignment.py). */
#include "loops.h"

#include <math.h>

/* Each row takes a column, rows ≤ columns, so that the costs −table[row][column] add up lowest. Rows come one after the
 * other; for each, the shortest path through the reduced costs from the row to a free column is found (Dijkstra), and
 * the rows along it change columns (Jonker and Volgenant 1987; Crouse 2016 for tables that are not square).
 *
 * Ties: `left` lists the columns not yet reached, at first from the last to the first; one that is reached leaves its
 * place to the last of the list. Of equally near columns the first in the list is taken, but a free one before others,
 * the last free one of the list before it.
 *
 * Returns 0, or 1 where no assignment has a finite sum. `wide`: rows + 2 × columns; `whole`: rows + 3 × columns. */
static int64_t one_table(const double *table, int64_t rows, int64_t columns, double *wide, int64_t *whole,
                         int64_t *found) {
    double *row_price = wide, *column_price = wide + rows, *distance = column_price + columns;
    int64_t *taken_by = whole, *reached_from = whole + columns, *left = reached_from + columns;
    int64_t *done = left + columns; /* rows that are on some shortest path */
    for (int64_t j = 0; j < columns; j++) column_price[j] = 0.0, taken_by[j] = -1;
    for (int64_t i = 0; i < rows; i++) row_price[i] = 0.0, found[i] = -1;
    for (int64_t start = 0; start < rows; start++) {
        int64_t remaining = columns, row = start, sink = -1, rows_done = 0;
        double least = 0.0;
        for (int64_t j = 0; j < columns; j++) left[j] = columns - 1 - j, distance[j] = INFINITY, reached_from[j] = -1;
        while (sink < 0) {
            int64_t best = -1;
            double lowest = INFINITY;
            done[rows_done++] = row;
            for (int64_t k = 0; k < remaining; k++) {
                const int64_t j = left[k];
                const double length = least + -table[row * columns + j] - row_price[row] - column_price[j];
                if (length < distance[j]) distance[j] = length, reached_from[j] = row;
                if (distance[j] < lowest || (distance[j] == lowest && taken_by[j] < 0)) lowest = distance[j], best = k;
            }
            least = lowest;
            if (lowest == INFINITY) return 1;
            const int64_t column = left[best];
            if (taken_by[column] < 0) sink = column;
            else row = taken_by[column];
            left[best] = left[--remaining];
        }
        row_price[start] += least;
        for (int64_t k = 1; k < rows_done; k++) row_price[done[k]] += least - distance[found[done[k]]];
        /* Columns that were reached are those no longer left: the sink and those of the rows that are done. */
        for (int64_t k = 1; k < rows_done; k++) {
            const int64_t j = found[done[k]];
            column_price[j] -= least - distance[j];
        }
        for (int64_t column = sink, next;; column = next) {
            const int64_t at = reached_from[column];
            taken_by[column] = at;
            next = found[at];
            found[at] = column;
            if (at == start) break;
        }
    }
    return 0;
}

/* The same of every table of n × rows × columns; `found`: n × rows. Returns how many have no finite assignment. */
EXPORT int64_t greatest_sums(const double *tables, int64_t n, int64_t rows, int64_t columns, double *wide,
                             int64_t *whole, int64_t *found) {
    int64_t failed = 0;
    for (int64_t k = 0; k < n; k++)
        failed += one_table(tables + k * rows * columns, rows, columns, wide, whole, found + k * rows);
    return failed;
}
