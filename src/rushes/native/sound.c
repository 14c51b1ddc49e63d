/* Filters of sound (see instruments/clip/sound/levels.py and instruments/fidelity/metrics/sound/stoi.py). */
#include "loops.h"

/* Second-order sections one after the other, direct form II transposed. `sections`: b0 b1 b2 1 a1 a2 of each; `samples`:
 * channels × n, filtered in place; `state`: sections × channels × 2, carried from one piece to the next. */
EXPORT void sections_filter(const double *sections, int64_t count, double *samples, int64_t channels, int64_t n,
                            double *state) {
    for (int64_t channel = 0; channel < channels; channel++) {
        double *sound = samples + channel * n;
        for (int64_t s = 0; s < count; s++) {
            const double *of = sections + 6 * s;
            const double b0 = of[0], b1 = of[1], b2 = of[2], a1 = of[4], a2 = of[5];
            double *kept = state + 2 * (s * channels + channel);
            double first = kept[0], second = kept[1];
            for (int64_t i = 0; i < n; i++) {
                const double x = sound[i], y = b0 * x + first;
                first = b1 * x - a1 * y + second;
                second = b2 * x - a2 * y;
                sound[i] = y;
            }
            kept[0] = first, kept[1] = second;
        }
    }
}

/* Every `down`-th sample of the sound at `up` times its rate, under a filter of 2 · half + 1 taps whose middle lies on
 * the sample: found[k] = Σ taps[half + k·down − i·up] · sound[i], added up in the order of the sound. */
EXPORT void resample(const double *sound, int64_t n, const double *taps, int64_t half, int64_t up, int64_t down,
                     double *found, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        const int64_t middle = k * down;
        const int64_t low = middle > half ? (middle - half + up - 1) / up : 0;
        const int64_t high = (middle + half) / up < n - 1 ? (middle + half) / up : n - 1;
        double total = 0.0;
        for (int64_t i = low; i <= high; i++) total += taps[half + middle - i * up] * sound[i];
        found[k] = total;
    }
}
