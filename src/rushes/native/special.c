/* Functions of the normal distribution over arrays (see stats/special/normal.py). */
#include "loops.h"

#include <math.h>

/* Φ(x) = erfc(−x/√2)/2. */
EXPORT void normal_cdf(const double *x, int64_t n, double *found) {
    for (int64_t i = 0; i < n; i++) found[i] = 0.5 * erfc(-M_SQRT1_2 * x[i]);
}

/* ln Φ(x). Above −1 by the tail on the other side, which keeps what is left of 1; below −30, where Φ is about to
 * underflow, by the asymptotic series φ(x)/|x| · (1 − 1/x² + 3/x⁴ − 15/x⁶ + 105/x⁸ − …) (DLMF 7.12.1). */
EXPORT void normal_log_cdf(const double *x, int64_t n, double *found) {
    const double log_root_two_pi = 0.91893853320467274178;
    for (int64_t i = 0; i < n; i++) {
        const double v = x[i];
        if (v > -1.0) {
            found[i] = log1p(-0.5 * erfc(M_SQRT1_2 * v));
        } else if (v >= -30.0 || isnan(v)) {
            found[i] = log(0.5 * erfc(-M_SQRT1_2 * v));
        } else {
            const double s = 1.0 / (v * v);
            const double rest = -s * (1.0 - s * (3.0 - s * (15.0 - s * (105.0 - s * 945.0))));
            found[i] = -0.5 * v * v - log(-v) - log_root_two_pi + log1p(rest);
        }
    }
}

static double upper(double x) { return 0.5 * erfc(M_SQRT1_2 * x); }

/* Owen's T for h ≥ 0 and 0 ≤ a ≤ 1, by a rule's nodes on 0 to 1 and their weights. */
static double flat(double h, double a, const double *nodes, const double *weights, int64_t count) {
    double total = 0.0;
    for (int64_t k = 0; k < count; k++) {
        const double x = a * nodes[k];
        total += weights[k] * exp(-0.5 * (h * x) * (h * x)) / (1.0 + x * x);
    }
    return exp(-0.5 * h * h) * total * a / (2.0 * M_PI);
}

/* Owen's T of each h and a. `rules`: nodes and weights of `few` and then of `many` nodes. */
EXPORT void owens_t(const double *heights, const double *slopes, int64_t n, const double *rules, int64_t few,
                    int64_t many, double *found) {
    const double far = 9.0; /* so many standard deviations from the middle, 2e-18 of a normal density is left */
    for (int64_t i = 0; i < n; i++) {
        const double h = fabs(heights[i]), a = fabs(slopes[i]);
        const int steep = a > 1.0;
        const double across = !steep ? h : h > 0.0 ? h * a : 0.0;
        double t = 0.0;
        if (!(across > 40.0)) { /* else it underflows */
            double reach = steep ? 1.0 / a : a;
            if (across * reach > far) reach = far / across;
            const int smooth = across * reach <= 3.0;
            const double *nodes = smooth ? rules : rules + 2 * few;
            const int64_t count = smooth ? few : many;
            t = flat(across, reach, nodes, nodes + count, count);
        }
        if (steep) t = 0.5 * upper(h) + upper(across) * (0.5 - upper(h)) - t;
        found[i] = copysign(t, slopes[i]);
    }
}
