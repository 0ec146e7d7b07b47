/* The inner loops of decoding on a CPU that torch would need several passes for. Rows are independent of each other. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LANES 16 /* floats in a vector */
#define CHUNK 64 /* columns with a maximum of their own */

static inline float larger(float a, float b) { return a > b ? a : b; }

/* exp(x) for x <= 0, to 2e-7 of its value: 2^n * e^f with |f| <= ln(2) / 2, the second by its Taylor series. */
static inline float exp_below(float x) {
    float t = (x < -100.0f ? -100.0f : x) * 1.442695041f, n = rintf(t), f = (t - n) * 0.693147181f; /* keeps NaN */
    float p = 1.0f + f * (1.0f + f * (0.5f + f * (1.0f / 6 + f * (1.0f / 24 + f * (1.0f / 120 + f * (1.0f / 720))))));
    int32_t exponent = (int32_t)n + 127;
    union { int32_t bits; float value; } two_to_n = {(exponent < 0 ? 0 : exponent) << 23};
    return p * two_to_n.value;
}

static inline float largest_of(const float *x, long n) {
    float found = -INFINITY;
#pragma omp simd reduction(max : found)
    for (long j = 0; j < n; j++) found = larger(found, x[j]);
    return found;
}

/* out[r] = round(x[r] * 127 / largest[r]), where largest[r] = max |x[r]|. */
void round_rows(const float *x, long rows, long cols, int8_t *out, float *largest) {
    for (long r = 0; r < rows; r++, x += cols, out += cols) {
        float found = 1.17549435e-38f;
#pragma omp simd reduction(max : found)
        for (long j = 0; j < cols; j++) found = larger(found, fabsf(x[j]));
        largest[r] = found;
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

/* The k <= 64 largest log-probabilities of each row of logits, descending, and their columns. */
int best_tokens(const float *logits, long rows, long cols, long k, float *log_probs, int64_t *columns) {
    long chunks = (cols + CHUNK - 1) / CHUNK;
    float *tops = malloc(chunks * sizeof(float));
    if (!tops) return 1;
    for (long r = 0; r < rows; r++, logits += cols, log_probs += k, columns += k) {
        float best = -INFINITY;
        for (long c = 0; c < chunks; c++) {
            tops[c] = largest_of(logits + c * CHUNK, c + 1 < chunks ? CHUNK : cols - c * CHUNK);
            best = larger(tops[c], best);
        }
        float total = 0;
#pragma omp simd reduction(+ : total)
        for (long j = 0; j < cols; j++) total += exp_below(logits[j] - best);
        float norm = best + logf(total);
        long found = 0;
        for (long c = 0; c < chunks; c++) {
            if (found == k && !(tops[c] > log_probs[k - 1])) continue;
            long end = c + 1 < chunks ? (c + 1) * CHUNK : cols;
            for (long j = c * CHUNK; j < end; j++) {
                if (found == k && !(logits[j] > log_probs[k - 1])) continue;
                long place = found < k ? found++ : k - 1;
                for (; place > 0 && logits[j] > log_probs[place - 1]; place--) {
                    log_probs[place] = log_probs[place - 1];
                    columns[place] = columns[place - 1];
                }
                log_probs[place] = logits[j];
                columns[place] = j;
            }
        }
        for (long place = 0; place < k; place++) log_probs[place] -= norm;
    }
    free(tops);
    return 0;
}

typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4)));

static inline lanes load(const float *x) { return *(const lanes *)x; }

static inline float sum_of(lanes x) {
    float parts[LANES];
    memcpy(parts, &x, sizeof parts);
    for (long width = LANES / 2; width; width /= 2)
        for (long l = 0; l < width; l++) parts[l] += parts[l + width];
    return parts[0];
}

/* softmax(q k * scale) v of one query over the `count` keys in `seen`; both widths are multiples of LANES. */
static inline void attend_one(const float *q, const float *k, long k_stride, const float *v, long v_stride,
                              const long *seen, long count, long dim, long value_dim, float scale, float *weights,
                              float *out) {
    float best = -INFINITY;
    for (long i = 0; i < count; i++) {
        const float *key = k + seen[i] * k_stride;
        lanes dot = {0};
        for (long d = 0; d < dim; d += LANES) dot += load(q + d) * load(key + d);
        weights[i] = sum_of(dot) * scale;
        best = larger(best, weights[i]);
    }
    for (long i = count; i % LANES; i++) weights[i] = -INFINITY; /* whole vectors are fast */
    lanes totals = {0};
    for (long i = 0; i < count; i += LANES) {
        for (long l = 0; l < LANES; l++) weights[i + l] = exp_below(weights[i + l] - best);
        totals += load(weights + i);
    }
    float share = count ? 1 / sum_of(totals) : 0;
    for (long d = 0; d < value_dim; d += LANES) {
        lanes sum = {0};
        for (long i = 0; i < count; i++) sum += weights[i] * load(v + seen[i] * v_stride + d);
        sum *= share;
        memcpy(out + d, &sum, sizeof sum);
    }
}

/* Attention of a few queries: sentence b, query n, head h, which reads key head h / (heads / groups).
   Strides count elements: of q [batch, heads, queries], of k and v [batch, groups, keys], of the mask's bytes
   [batch, queries, keys]; their last dimension lies together. No mask: all see all. Who sees nothing gets zeros.
   out is [batch, queries, heads, value_dim]. Returns 0, or 1 without memory. */
int attend(const float *q, const long *q_strides, const float *k, const long *k_strides, const float *v,
           const long *v_strides, const uint8_t *mask, const long *mask_strides, long batch, long heads, long groups,
           long queries, long keys, long dim, long value_dim, float scale, float *out) {
    float *weights = malloc((keys + LANES) * sizeof(float));
    long *seen = malloc(keys * sizeof(long));
    int failed = !weights || !seen;
    for (long b = 0; b < batch && !failed; b++)
        for (long n = 0; n < queries; n++) {
            const uint8_t *allowed = mask ? mask + b * mask_strides[0] + n * mask_strides[1] : NULL;
            long count = 0;
            for (long e = 0; e < keys; e++)
                if (!allowed || allowed[e * mask_strides[2]]) seen[count++] = e;
            for (long h = 0; h < heads; h++, out += value_dim) {
                long group = h / (heads / groups);
                const float *one = q + b * q_strides[0] + h * q_strides[1] + n * q_strides[2];
                const float *own_k = k + b * k_strides[0] + group * k_strides[1];
                const float *own_v = v + b * v_strides[0] + group * v_strides[1];
                if (dim == 64 && value_dim == 64) /* known widths make faster code */
                    attend_one(one, own_k, k_strides[2], own_v, v_strides[2], seen, count, 64, 64, scale, weights, out);
                else if (dim == 32 && value_dim == 32)
                    attend_one(one, own_k, k_strides[2], own_v, v_strides[2], seen, count, 32, 32, scale, weights, out);
                else
                    attend_one(one, own_k, k_strides[2], own_v, v_strides[2], seen, count, dim, value_dim, scale,
                               weights, out);
            }
        }
    free(weights);
    free(seen);
    return failed;
}
