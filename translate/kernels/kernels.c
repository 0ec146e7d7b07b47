/* The inner loops of decoding on a CPU that torch would need several passes for. Rows are independent of each other. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lanes.h"
#include "structures.h"

#define CHUNK 64 /* columns that share a maximum */

/* exp(x) for x <= 0, to 4e-6 of its value, near 0 to 3e-7: 2^n * 2^f with |f| <= 1 / 2, the second by its Taylor series.
   Below -87 it stays at 2^-126, NaN stays NaN. */
static inline lanes exp_below(lanes x) {
    lanes t = larger_lanes((lanes){0} - 126.0f, x * 1.442695041f);
    lanes near = t + 12582912.0f; /* the nearest whole number, in its last bits */
    lanes f = t - (near - 12582912.0f);
    lanes p = 1.33335581e-3f + f * 1.54035304e-4f;
    p = 1.0f + f * (0.693147181f + f * (0.240226507f + f * (5.55041087e-2f + f * (9.61812911e-3f + f * p))));
    return (lanes)((int_lanes)p + (((int_lanes)near << 23) & (x == x)));
}

/* The largest of n numbers, lane by lane; those that are none are passed over. */
static inline lanes largest_by_lane(const float *x, long n) {
    lanes found = (lanes){0} - INFINITY;
    for (; n >= LANES; n -= LANES, x += LANES) found = larger_lanes(load(x), found);
    for (long l = 0; l < n; l++) found[l] = larger(x[l], found[l]);
    return found;
}

/* out[r] = round(x[r] * 127 / largest[r]), where largest[r] = max |x[r]|. */
void round_rows(const float *x, long rows, long cols, int8_t *out, float *largest) {
    for (long r = 0; r < rows; r++, x += cols, out += cols) {
        float found = 1e-30f, nothing = 0;
#pragma omp simd reduction(max : found) reduction(+ : nothing)
        for (long j = 0; j < cols; j++) {
            found = larger(found, fabsf(x[j]));
            nothing += x[j] * 0; /* NaN where x is none */
        }
        largest[r] = found + nothing;
        float scale = 127 / found;
        for (long j = 0; j < cols; j++) out[j] = (int8_t)(int32_t)rintf(x[j] * scale);
    }
}

/* Turns 32-bit integers in place into floats: out[r][c] = sums[r][c] * row_scale[r] * col_scale[c] + bias[c], where
   bias may be null. */
void widen_rows(void *data, long rows, long cols, const float *row_scale, const float *col_scale, const float *bias) {
    int32_t *sums = data;
    float *out = data;
    for (long r = 0; r < rows; r++, sums += cols, out += cols) {
        float scale = row_scale[r];
        if (bias)
            for (long j = 0; j < cols; j++) out[j] = (float)sums[j] * scale * col_scale[j] + bias[j];
        else
            for (long j = 0; j < cols; j++) out[j] = (float)sums[j] * scale * col_scale[j];
    }
}

/* Whether a comes before b in descending order: what is no number comes first, as in torch, and is not lost. */
static inline int above(float a, float b) { return a > b || (a != a && b == b); }

/* Puts x, if it is among the k largest so far, in its place: `values` is descending, with x the one that came last. */
static inline long insert(float x, int64_t column, long found, long k, float *values, int64_t *columns) {
    if (found == k && !above(x, values[k - 1])) return found;
    long place = found < k ? found++ : k - 1;
    for (; place > 0 && above(x, values[place - 1]); place--) {
        values[place] = values[place - 1];
        columns[place] = columns[place - 1];
    }
    values[place] = x;
    columns[place] = column;
    return found;
}

/* The sum of exp(x - best) for n numbers, lane by lane. */
static inline lanes powers_below(const float *x, long n, float best) {
    lanes totals = {0};
    for (; n >= LANES; n -= LANES, x += LANES) totals += exp_below(load(x) - best);
    for (long l = 0; l < n; l++) totals[l] += exp_below((lanes){0} + x[l] - best)[0];
    return totals;
}

/* The k largest log-probabilities of a row of logits but for the banned columns, descending, and their columns; -inf
   and column 0 where there are fewer. `cols` columns may come; a sample of others lies behind them, each of which stands
   for `weight` of them in the sum of probabilities. `tops` and `kept` are space for a number per chunk, in whole vectors, and per
   banned column. */
static void best_of_row(float *logits, long cols, long sampled, float weight, const int64_t *banned, long num_banned,
                        long k, float *tops, float *kept, float *log_probs, int64_t *columns) {
    long chunks = (cols + CHUNK - 1) / CHUNK;
    float best = -INFINITY;
    for (long b = 0; b < num_banned; b++) {
        kept[b] = logits[banned[b]];
        best = larger(kept[b], best);
        logits[banned[b]] = -INFINITY;
    }
    for (long c = 0; c < chunks; c += LANES) {
        lanes own[LANES];
        for (long l = 0; l < LANES; l++) {
            long start = (c + l) * CHUNK, left = cols - start;
            /* a known count makes faster code */
            own[l] = left >= CHUNK ? largest_by_lane(logits + start, CHUNK) : largest_by_lane(logits + start, left);
        }
        lanes found = fold(own, larger_lanes);
        store(tops + c, found);
        best = larger(largest_of(found), best);
    }
    for (long j = cols; j < cols + sampled; j++) best = larger(logits[j], best);
    lanes totals = powers_below(logits, cols, best) + powers_below(logits + cols, sampled, best) * weight;
    for (long b = 0; b < num_banned; b++) totals[0] += exp_below((lanes){0} + kept[b] - best)[0];
    float share = logf(sum_of(totals));
    long found = 0; /* the k largest lie in the chunks with the k largest maxima */
    for (long c = 0; c < chunks; c++) found = insert(tops[c], c, found, k, log_probs, columns);
    float least = found == k ? log_probs[k - 1] : -INFINITY;
    found = 0;
    for (long c = 0; c < chunks; c++) {
        long end = tops[c] < least ? 0 : c + 1 < chunks ? (c + 1) * CHUNK : cols;
        for (long j = c * CHUNK; j < end; j++)
            if (!(logits[j] < least)) found = insert(logits[j], j, found, k, log_probs, columns);
    }
    for (long place = 0; place < k; place++) {
        log_probs[place] = place < found ? (log_probs[place] - best) - share : -INFINITY;
        if (place >= found) columns[place] = 0;
    }
    for (long b = num_banned; b--;) logits[banned[b]] = kept[b]; /* backwards: one may be named twice */
}

/* The `count` most probable continuations of each sentence's hypotheses, best first; -inf where there are fewer.

   logits     [sentences * hypotheses, cols + sampled]; as they were in the end. Behind the columns that may come lies a
              sample of others, each of which stands for `weight` of them in the sum of probabilities
   sums       [sentences, hypotheses], log-probabilities of the hypotheses so far
   banned     columns that may not come
   log_probs  [sentences, count] of the continuations, beams and columns the same: which hypothesis, which token

   Returns 0, or 1 without memory. */
int best_continuations(float *logits, const float *sums, const int64_t *banned, long num_banned, long sentences,
                       long hypotheses, long cols, long sampled, float weight, long count, float *log_probs,
                       int64_t *beams, int64_t *columns) {
    long chunks = (cols + CHUNK * LANES - 1) / (CHUNK * LANES) * LANES; /* whole vectors of them */
    char *space = malloc((chunks + num_banned + count) * sizeof(float) + 2 * count * sizeof(int64_t));
    if (!space) return 1;
    int64_t *own_columns = (int64_t *)space, *places = own_columns + count;
    float *tops = (float *)(places + count), *kept = tops + chunks, *own = kept + num_banned;
    for (long s = 0; s < sentences; s++, log_probs += count, beams += count, columns += count) {
        long found = 0;
        for (long h = 0; h < hypotheses; h++, logits += cols + sampled) {
            best_of_row(logits, cols, sampled, weight, banned, num_banned, count, tops, kept, own, own_columns);
            for (long i = 0; i < count; i++) /* a place names the hypothesis and the column */
                found = insert(own[i] + *sums, h * cols + own_columns[i], found, count, log_probs, places);
            sums++;
        }
        for (long i = 0; i < count; i++) {
            beams[i] = places[i] / cols;
            columns[i] = places[i] % cols;
        }
    }
    free(space);
    return 0;
}

/* Of each row of logits [rows, cols] the log-probability of a token, and the most probable column but the banned ones, the
   first of equals. Returns 0, or 1 without memory. */
int score_rows(float *logits, const int64_t *tokens, long rows, long cols, const int64_t *banned, long num_banned,
               float *log_probs, int64_t *best) {
    long chunks = (cols + CHUNK * LANES - 1) / (CHUNK * LANES) * LANES; /* whole vectors of them */
    float *tops = malloc((chunks + num_banned) * sizeof(float)), most;
    if (!tops) return 1;
    for (long r = 0; r < rows; r++, logits += cols) {
        best_of_row(logits, cols, 0, 0, banned, num_banned, 1, tops, tops + chunks, &most, best + r);
        log_probs[r] = most + (logits[tokens[r]] - logits[best[r]]);
    }
    free(tops);
    return 0;
}

#define WIDE 64 /* most numbers of a value that are added up at once */

/* q k for one query and `count` keys, lane by lane. */
static inline __attribute__((always_inline)) void dot_products(const float *q, const float *k, long k_stride, const long *seen,
                                                               long count, long dim, lanes *dots) {
#pragma GCC unroll 16
    for (long l = 0; l < count; l++) {
        const float *key = k + seen[l] * k_stride;
        dots[l] = load(q) * load(key);
        for (long d = LANES; d < dim; d += LANES) dots[l] += load(q + d) * load(key + d);
    }
}

/* q k * scale for one query and the `count` keys in `seen`, which names keys up to the next whole vector; -inf behind them. */
static inline __attribute__((always_inline)) void score_keys(const float *q, const float *k, long k_stride, const long *seen,
                                                             long count, long dim, float scale, float *scores) {
    lanes number;
    for (long l = 0; l < LANES; l++) number[l] = l;
    for (long i = 0; i < count; i += LANES) {
        lanes dots[LANES] = {0};
        /* a known count makes faster code */
        if (count - i > LANES / 2) dot_products(q, k, k_stride, seen + i, LANES, dim, dots);
        else dot_products(q, k, k_stride, seen + i, LANES / 2, dim, dots);
        store(scores + i, choose(number < (float)(count - i), fold(dots, sum_lanes) * scale, (lanes){0} - INFINITY));
    }
}

/* Turns the scores of `count` keys into their softmax, but for the factor that is returned. */
static inline float soften(float *scores, long count) {
    lanes best = (lanes){0} - INFINITY, totals = {0};
    for (long i = 0; i < count; i += LANES) best = larger_lanes(load(scores + i), best);
    best = (lanes){0} + largest_of(best);
    for (long i = 0; i < count; i += LANES) {
        lanes powers = exp_below(load(scores + i) - best);
        store(scores + i, powers);
        totals += powers;
    }
    return count ? 1 / sum_of(totals) : 0;
}

/* The sum of the values in `seen`, weighted, times `share`: `width` of their numbers, which are added up in registers. */
static inline __attribute__((always_inline)) void mix_values(const float *weights, const float *v, long v_stride,
                                                             const long *seen, long count, long width, float share, float *out) {
    lanes sums[WIDE / LANES] = {0};
    for (long i = 0; i < count; i++)
#pragma GCC unroll 16
        for (long d = 0; d < width; d += LANES) sums[d / LANES] += weights[i] * load(v + seen[i] * v_stride + d);
#pragma GCC unroll 16
    for (long d = 0; d < width; d += LANES) store(out + d, sums[d / LANES] * share);
}

/* What `attend` is given, for one of its sentences. `weights` is space for `room` numbers of each head, whole vectors of keys
   and, as the last one, the factor of their softmax. */
typedef struct {
    const float *q, *k, *v;
    const long *q_strides, *k_strides, *v_strides;
    long heads, groups, room;
    float scale, *weights;
} Sentence;

/* softmax(q k * scale) v of query n over the `count` keys in `seen`. All heads take each of three steps before the next, so
   that the processor need not wait for one. `at_once` numbers of a value are added up together. */
static inline __attribute__((always_inline)) void attend_one(const Sentence *own, long n, const long *seen, long count, long dim,
                                                             long value_dim, long at_once, float *out, float *kept, long keys) {
    long shared = own->heads / own->groups, room = own->room;
    for (long h = 0; h < own->heads; h++)
        score_keys(own->q + h * own->q_strides[1] + n * own->q_strides[2], own->k + h / shared * own->k_strides[1],
                   own->k_strides[2], seen, count, dim, own->scale, own->weights + h * room);
    for (long h = 0; h < own->heads; h++) own->weights[(h + 1) * room - 1] = soften(own->weights + h * room, count);
    for (long h = 0; h < own->heads; h++) {
        float *weights = own->weights + h * room, share = weights[room - 1];
        const float *values = own->v + h / shared * own->v_strides[1];
        for (long first = 0; first < value_dim; first += at_once)
            mix_values(weights, values + first, own->v_strides[2], seen, count, at_once, share, out + h * value_dim + first);
        for (long i = 0; kept && i < count; i++) kept[h * keys + seen[i]] = weights[i] * share;
    }
}

/* Attention of a few queries: sentence b, query n, head h, which reads key head h / (heads / groups).
   Strides count elements: of q [batch, heads, queries], of k and v [batch, groups, keys], of the mask's bytes
   [batch, queries, keys]; their last dimension lies together. No mask: all see all. Who sees nothing gets zeros.
   out is [batch, queries, heads, value_dim], kept [batch, queries, heads, keys] or null: the weights, to be given as zeros.
   dim and value_dim are multiples of LANES.
   Returns 0, or 1 without memory. */
int attend(const float *q, const long *q_strides, const float *k, const long *k_strides, const float *v,
           const long *v_strides, const uint8_t *mask, const long *mask_strides, long batch, long heads, long groups,
           long queries, long keys, long dim, long value_dim, float scale, float *out, float *kept) {
    long room = keys + LANES, count = 0;
    long *seen = malloc(room * (sizeof(long) + heads * sizeof(float)));
    if (!seen) return 1;
    for (long e = 0; e < keys && !mask; e++) seen[count++] = e; /* the same for all */
    for (long b = 0; b < batch; b++)
        for (long n = 0; n < queries; n++) {
            const uint8_t *allowed = mask ? mask + b * mask_strides[0] + n * mask_strides[1] : NULL;
            if (allowed) count = 0;
            for (long e = 0; e < keys && allowed; e++)
                if (allowed[e * mask_strides[2]]) seen[count++] = e;
            for (long fill = count; fill % LANES; fill++) seen[fill] = seen[0];
            Sentence own = {q + b * q_strides[0], k + b * k_strides[0], v + b * v_strides[0], q_strides, k_strides, v_strides,
                            heads, groups, room, scale, (float *)(seen + room)};
            if (dim == 64 && value_dim == 64) /* known widths make faster code */
                attend_one(&own, n, seen, count, 64, 64, 64, out, kept, keys);
            else if (dim == 32 && value_dim == 32)
                attend_one(&own, n, seen, count, 32, 32, 32, out, kept, keys);
            else
                attend_one(&own, n, seen, count, dim, value_dim, LANES, out, kept, keys);
            out += heads * value_dim;
            kept += kept ? heads * keys : 0;
        }
    free(seen);
    return 0;
}
