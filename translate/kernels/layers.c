/* The layers of a Transformer in 8-bit integers, for translating: weights and inputs of the linear maps are rounded,
   everything else is float32. What is computed for a row does not depend on the others. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lanes.h"
#include "products.h"
#include "structures.h"

#define PANEL 64 /* outputs of a linear map whose weights lie together */
#define BLOCK 96 /* rows that pass through all layers together: what they leave behind stays in the cache */
#define LOGITS 24 /* rows whose logits are looked through while they are in the cache */

/* x[r] * 127 / max |x[r]|, rounded and moved by 128 to lie above 0; the maxima are the scales, NaN where one of x is
   no finite number. */
static void round_inputs(const float *x, long rows, long cols, uint8_t *out, float *scale) {
    for (long r = 0; r < rows; r++, x += cols, out += cols) {
        int_lanes most = {0}; /* of magnitudes as integers, in which their order is the same and NaN is the largest */
        for (long j = 0; j < cols; j += LANES) most = larger_integers(load_integers(x + j) & 0x7fffffff, most);
        float largest = larger(largest_of((lanes)most), 1e-30f);
        scale[r] = largest + sum_of((lanes)most * 0.0f);
        lanes factor = (lanes){0} + 127 / largest;
        for (long j = 0; j < cols; j += LANES) {
            lanes near = load(x + j) * factor + 12582912.0f; /* the nearest whole number, in its last bits */
            *(byte_lanes *)(out + j) = __builtin_convertvector((int_lanes)near + 128, byte_lanes);
        }
    }
}

/* What becomes of the outputs of a linear map. */
enum end { WRITTEN, RELU, ADDED };

/* PANEL outputs of up to ROWS inputs; `count` is known where this is called, so that the sums stay in registers. */
static inline __attribute__((always_inline)) void panel(const uint8_t *x, long inputs, long count, const int8_t *weight,
                                                        const float *row_scale, const float *scale, const float *bias,
                                                        const int32_t *start, enum end end, float *out, long stride,
                                                        long valid) {
    for (long first = 0; first < PANEL; first += VECTORS * LANES) {
        int_lanes sums[ROWS][VECTORS];
#pragma GCC unroll 8
        for (long r = 0; r < count; r++)
#pragma GCC unroll 8
            for (long v = 0; v < VECTORS; v++) sums[r][v] = first_sum(start + first + LANES * v);
        const int8_t *newest = weight + 4 * first;
        for (long i = 0; i < inputs; i += 4, newest += 4 * PANEL) {
            int_lanes w[VECTORS];
#pragma GCC unroll 8
            for (long v = 0; v < VECTORS; v++) w[v] = load_integers(newest + 4 * LANES * v);
#pragma GCC unroll 8
            for (long r = 0; r < count; r++) {
                int_lanes same = four_inputs(x + r * inputs + i);
#pragma GCC unroll 8
                for (long v = 0; v < VECTORS; v++) sums[r][v] = add_products(sums[r][v], same, w[v]);
            }
        }
        lanes found[ROWS][VECTORS]; /* separate, or the compiler keeps the sums in memory */
#pragma GCC unroll 8
        for (long r = 0; r < count; r++)
#pragma GCC unroll 8
            for (long v = 0; v < VECTORS; v++) {
                lanes sum = __builtin_convertvector(sums[r][v], lanes) * load(scale + first + LANES * v);
                found[r][v] = sum * row_scale[r] + load(bias + first + LANES * v);
                if (end == RELU) found[r][v] = larger_lanes((lanes){0}, found[r][v]); /* keeps NaN */
            }
        long left = valid - first;
        for (long r = 0; r < count; r++) {
            float *to = out + r * stride + first, *from = (float *)found[r];
            if (left >= VECTORS * LANES)
                for (long v = 0; v < VECTORS; v++) {
                    lanes one = found[r][v];
                    store(to + LANES * v, end == ADDED ? load(to + LANES * v) + one : one);
                }
            else
                for (long j = 0; j < left; j++) to[j] = end == ADDED ? to[j] + from[j] : from[j];
        }
    }
}

/* out[r] = weight x[r] + bias for inputs that `round_inputs` made, or its positive part, or out[r] with that added. */
static void apply(const Linear *linear, const uint8_t *x, const float *row_scale, long rows, enum end end, float *out) {
    long inputs = linear->inputs, outputs = linear->outputs;
    for (long o = 0; o < outputs; o += PANEL) {
        const int8_t *weight = linear->weight + o * inputs;
        long valid = outputs - o < PANEL ? outputs - o : PANEL;
#define PANEL_OF(count)                                                                                              \
    panel(x + r * inputs, inputs, count, weight, row_scale + r, linear->scale + o, linear->bias + o,                \
          linear->start + o, end, out + r * outputs + o, outputs, valid)
        long r = 0;
        for (; r + ROWS <= rows; r += ROWS) PANEL_OF(ROWS);
        switch (rows - r) {
#if ROWS > 4
        case 5: PANEL_OF(5); break;
        case 4: PANEL_OF(4); break;
#endif
        case 3: PANEL_OF(3); break;
        case 2: PANEL_OF(2); break;
        case 1: PANEL_OF(1); break;
        }
    }
}

/* Lays out rows of a weight [rows, inputs] as `Linear` has them: `outputs` rows that `chosen` names or, if it is null, the
   first ones in order. The panels, and `start`, are given as zeros. */
void pack(const int8_t *weight, const int64_t *chosen, long outputs, long inputs, int8_t *panels, int32_t *start) {
    for (long o = 0; o < outputs; o++) {
        const int8_t *row = weight + (chosen ? chosen[o] : o) * inputs;
        int8_t *to = panels + o / PANEL * PANEL * inputs + o % PANEL * 4;
        int32_t sum = 0;
        for (long i = 0; i < inputs; i++) sum += row[i];
        for (long i = 0; i < inputs; i += 4) memcpy(to + i * PANEL, row + i, 4);
        start[o] = -128 * sum;
    }
}

/* What the layers work in; one allocation, which `space` begins. */
typedef struct {
    float *space, *heads, *wide, *row_scale, *x, *logits;
    uint8_t *rounded;
} Scratch;

static long larger_of(long a, long b) { return a > b ? a : b; }

/* For so many rows in the layers, and so many logits. */
static int reserve(Scratch *scratch, const Stack *stack, long rows, long logits) {
    long q_width = stack->heads * stack->head_dim, qkv_width = q_width + 2 * stack->groups * stack->head_dim;
    long deepest = larger_of(larger_of(stack->width, q_width), stack->ff_width);
    long widest = larger_of(qkv_width, stack->ff_width * (stack->activation == 2 ? 2 : 1));
    scratch->space = malloc((rows * (2 * deepest + widest + stack->width + 1) + logits) * sizeof(float) + rows * deepest);
    if (!scratch->space) return 1;
    scratch->heads = scratch->space + rows * deepest;
    scratch->wide = scratch->heads + rows * deepest;
    scratch->x = scratch->wide + rows * widest;
    scratch->row_scale = scratch->x + rows * stack->width;
    scratch->logits = scratch->row_scale + rows;
    scratch->rounded = (uint8_t *)(scratch->logits + logits);
    return 0;
}

static void linear(const Linear *map, const float *x, long rows, Scratch *scratch, enum end end, float *out) {
    round_inputs(x, rows, map->inputs, scratch->rounded, scratch->row_scale);
    apply(map, scratch->rounded, scratch->row_scale, rows, end, out);
}

static void norm(const Norm *with, const float *x, long rows, long width, float *out) {
    for (long r = 0; r < rows; r++, x += width, out += width) {
        lanes sum = {0}, squares = {0}, mean = {0};
        if (with->bias) {
            for (long j = 0; j < width; j += LANES) sum += load(x + j);
            mean += sum_of(sum) / width;
        }
        for (long j = 0; j < width; j += LANES) {
            lanes moved = load(x + j) - mean;
            squares += moved * moved;
        }
        lanes factor = (lanes){0} + 1 / sqrtf(sum_of(squares) / width + with->epsilon);
        for (long j = 0; j < width; j += LANES) {
            lanes bias = with->bias ? load(with->bias + j) : (lanes){0};
            store(out + j, (load(x + j) - mean) * factor * load(with->weight + j) + bias);
        }
    }
}

/* The inputs of a sub-layer: x itself, or its norm where that comes first. */
static const float *before(const Stack *stack, const Norm *with, const float *x, long rows, float *space) {
    if (!stack->norm_first) return x;
    norm(with, x, rows, stack->width, space);
    return space;
}

/* x plus what a sub-layer's last map makes of `inner`, and the norm of that where it comes last. */
static void after(const Stack *stack, const Linear *map, const Norm *with, const float *inner, long rows, Scratch *scratch, float *x) {
    linear(map, inner, rows, scratch, ADDED, x);
    if (!stack->norm_first) norm(with, x, rows, stack->width, x);
}

static void activate(const Stack *stack, float *x, long rows) {
    long width = stack->ff_width;
    if (stack->activation == 1) {
        for (long j = 0; j < rows * width; j++) x[j] = 0.5f * x[j] * (1 + erff(x[j] * 0.70710678f));
    } else if (stack->activation == 3) {
        for (long j = 0; j < rows * width; j++) x[j] = x[j] / (1 + expf(-x[j]));
    } else {
        for (long r = 0; r < rows; r++) /* gates, then values; the results close ranks */
            for (long j = 0; j < width; j++) {
                float gate = x[2 * r * width + j];
                x[r * width + j] = gate / (1 + expf(-gate)) * x[(2 * r + 1) * width + j];
            }
    }
}

static void feed_forward(const Stack *stack, const Layer *layer, float *x, long rows, Scratch *scratch) {
    int relu = stack->activation == 0;
    linear(&layer->inner, before(stack, &layer->ff_norm, x, rows, scratch->space), rows, scratch, relu ? RELU : WRITTEN,
           scratch->wide);
    if (!relu) activate(stack, scratch->wide, rows);
    after(stack, &layer->outer, &layer->ff_norm, scratch->wide, rows, scratch, x);
}

static void last(const Stack *stack, float *x, long rows) {
    if (stack->last_norm.weight) norm(&stack->last_norm, x, rows, stack->width, x);
}

/* out [rows, outputs] = weight x + bias for x [rows, inputs]. Returns 0, or 1 without memory. */
int project(const Linear *map, const float *x, long rows, float *out) {
    uint8_t *rounded = malloc(BLOCK * map->inputs);
    float row_scale[BLOCK];
    for (long first = 0; rounded && first < rows; first += BLOCK) {
        long count = rows - first < BLOCK ? rows - first : BLOCK;
        round_inputs(x + first * map->inputs, count, map->inputs, rounded, row_scale);
        apply(map, rounded, row_scale, count, WRITTEN, out + first * map->outputs);
    }
    free(rounded);
    return !rounded;
}

static long block_of(long sentences, long rows_each) {
    long block = larger_of(1, BLOCK / rows_each);
    return block < sentences ? block : sentences;
}

/* Moves the rows of real tokens to the front; returns how many there are. */
static long close_ranks(float *x, const uint8_t *mask, long rows, long width) {
    long count = 0;
    for (long r = 0; r < rows; r++)
        if (mask[r] && count++ < r) memcpy(x + (count - 1) * width, x + r * width, width * sizeof(float));
    return count;
}

/* Moves them back to their places; zeros in between. */
static void open_ranks(float *x, const uint8_t *mask, long rows, long count, long width) {
    for (long r = rows; r--;)
        if (!mask[r]) memset(x + r * width, 0, width * sizeof(float));
        else if (--count < r) memcpy(x + r * width, x + count * width, width * sizeof(float));
}

/* Padding is left out, so that nothing is spent on it. */
static int encode_block(const Stack *stack, float *x, const uint8_t *src_mask, long sentences, long src_len,
                        Scratch scratch) {
    long rows = close_ranks(x, src_mask, sentences * src_len, stack->width), dim = stack->head_dim;
    long groups = stack->groups, q_width = stack->heads * dim, qkv_width = q_width + 2 * groups * dim;
    long strides[3] = {0, dim, qkv_width};
    int failed = 0;
    for (long number = 0; number < stack->layers && !failed; number++) {
        const Layer *layer = stack->layer + number;
        linear(&layer->qkv, before(stack, &layer->self_norm, x, rows, scratch.space), rows, &scratch, WRITTEN, scratch.wide);
        for (long s = 0, first = 0, len = 0; s < sentences && !failed; s++, first += len) {
            const float *q = scratch.wide + first * qkv_width, *k = q + q_width;
            len = 0;
            for (long place = 0; place < src_len; place++) len += src_mask[s * src_len + place] != 0;
            failed = attend(q, strides, k, strides, k + groups * dim, strides, NULL, NULL, 1, stack->heads, groups, len,
                            len, dim, dim, 1 / sqrtf(dim), scratch.heads + first * q_width, NULL);
        }
        after(stack, &layer->self_out, &layer->self_norm, scratch.heads, rows, &scratch, x);
        feed_forward(stack, layer, x, rows, &scratch);
    }
    last(stack, x, rows);
    open_ranks(x, src_mask, sentences * src_len, rows, stack->width);
    return failed;
}

/* Turns x [sentences * src_len, width], the embeddings of sources, into their memory, zeros where src_mask
   [sentences, src_len] tells no real token. Returns 0, or 1 without memory. */
int encode(const Stack *stack, float *x, const uint8_t *src_mask, long sentences, long src_len) {
    long block = block_of(sentences, src_len);
    Scratch scratch;
    int failed = reserve(&scratch, stack, block * src_len, 0);
    if (failed) return failed;
    for (long first = 0; first < sentences && !failed; first += block)
        failed = encode_block(stack, x + first * src_len * stack->width, src_mask + first * src_len,
                              first + block < sentences ? block : sentences - first, src_len, scratch);
    free(scratch.space);
    return failed;
}

static void embed(const Embedding *embedding, const int64_t *ids, long rows, long width, float *out) {
    float factor = embedding->scale;
    const float *position = embedding->position;
    for (long r = 0; r < rows; r++, out += width) {
        if (embedding->table) {
            const float *token = embedding->table + ids[r] * width;
            for (long j = 0; j < width; j++) out[j] = token[j] * factor;
        } else {
            const int8_t *token = embedding->rounded + ids[r] * width;
            for (long j = 0; j < width; j++) out[j] = token[j] * embedding->scales[ids[r]] * factor;
        }
        for (long j = 0; position && j < width; j++) out[j] += position[j];
    }
}

static int step_block(const Stack *stack, const LayerState *states, long first, float *x, const uint8_t *descent,
                      const uint8_t *src_mask, long sentences, long hypotheses, long entries, long capacity,
                      long src_len, long descent_stride, Scratch scratch) {
    long rows = sentences * hypotheses, dim = stack->head_dim, groups = stack->groups, keys = entries + hypotheses;
    long q_width = stack->heads * dim, qkv_width = q_width + 2 * groups * dim;
    long q_strides[3] = {hypotheses * qkv_width, dim, qkv_width}, cross_strides[3] = {hypotheses * q_width, dim, q_width};
    long kv_strides[3] = {2 * groups * capacity * dim, capacity * dim, dim};
    long descent_strides[3] = {hypotheses * descent_stride, descent_stride, 1}, src_strides[3] = {src_len, 0, 1};
    float scale = 1 / sqrtf(dim);
    int failed = 0;
    for (long number = 0; number < stack->layers && !failed; number++) {
        const Layer *layer = stack->layer + number;
        const LayerState *state = states + number;
        float *q = scratch.wide, *self_k = state->self_kv + first * kv_strides[0];
        float *self_v = self_k + groups * kv_strides[1];
        linear(&layer->qkv, before(stack, &layer->self_norm, x, rows, scratch.space), rows, &scratch, WRITTEN, q);
        for (long r = 0; r < rows; r++)
            for (long part = 0; part < 2 * groups; part++) /* keys of all groups, then values */
                memcpy(self_k + (r / hypotheses) * kv_strides[0] + part * kv_strides[1] +
                           (entries + r % hypotheses) * dim,
                       q + r * qkv_width + q_width + part * dim, dim * sizeof(float));
        failed = attend(q, q_strides, self_k, kv_strides, self_v, kv_strides, descent, descent_strides, sentences,
                        stack->heads, groups, hypotheses, keys, dim, dim, scale, scratch.heads, NULL);
        after(stack, &layer->self_out, &layer->self_norm, scratch.heads, rows, &scratch, x);

        const float *memory_k = state->memory_kv + first * state->memory_strides[0];
        const float *memory_v = memory_k + state->memory_strides[1];
        long memory_strides[3] = {state->memory_strides[0], state->memory_strides[2], state->memory_strides[3]};
        linear(&layer->cross_q, before(stack, &layer->cross_norm, x, rows, scratch.space), rows, &scratch, WRITTEN, q);
        failed |= attend(q, cross_strides, memory_k, memory_strides, memory_v, memory_strides, src_mask,
                         src_strides, sentences, stack->heads, groups, hypotheses, src_len, dim, dim, scale,
                         scratch.heads,
                         state->cross_weights ? state->cross_weights + first * hypotheses * stack->heads * src_len : NULL);
        after(stack, &layer->cross_out, &layer->cross_norm, scratch.heads, rows, &scratch, x);
        feed_forward(stack, layer, x, rows, &scratch);
    }
    last(stack, x, rows);
    return failed;
}

/* Write the wanted result of sentences `first` and following, whose hypotheses the decoder has turned into x; a few at a time. */
static int answer(const Output *output, const float *x, long first, long sentences, long hypotheses,
                  const StepResult *result, Scratch scratch) {
    const Linear *map = &output->map;
    long most = larger_of(1, LOGITS / hypotheses), outputs = map->outputs;
    int failed = 0;
    if (result->states)
        memcpy(result->states + first * hypotheses * map->inputs, x, sentences * hypotheses * map->inputs * sizeof(float));
    if (!result->logits && !result->count) return 0;
    for (long done = 0; done < sentences && !failed; done += most) {
        long sentence = first + done, count = done + most < sentences ? most : sentences - done, at = sentence * result->count;
        float *logits = result->logits ? result->logits + sentence * hypotheses * outputs : scratch.logits;
        linear(map, x + done * hypotheses * map->inputs, count * hypotheses, &scratch, WRITTEN, logits);
        if (!result->logits)
            failed = best_continuations(logits, result->sums + sentence * hypotheses, result->banned,
                                        result->num_banned, count, hypotheses, outputs - output->sampled,
                                        output->sampled, output->weight, result->count,
                                        result->log_probs + at, result->beams + at, result->columns + at);
        for (long one = at; output->tokens && one < at + count * result->count; one++)
            result->columns[one] = output->tokens[result->columns[one]];
    }
    return failed;
}

/* One more token of every hypothesis: takes the newest ones and gives what is wanted of the next.

   ids       [sentences * hypotheses], the newest tokens
   descent   [sentences, hypotheses, descent_stride], which entries of the cache each may look at; null = all
   src_mask  [sentences, src_len], real source tokens
   entries   of the cache so far; those of the newest tokens are added behind them

   Returns 0, 1 without memory, or 2 if one of the ids is outside the vocabulary. */
int decode_step(const Stack *stack, const Output *output, const Embedding *embedding, const LayerState *states,
                const int64_t *ids, const uint8_t *descent, const uint8_t *src_mask, long sentences, long hypotheses,
                long entries, long capacity, long src_len, long descent_stride, const StepResult *result) {
    for (long row = 0; row < sentences * hypotheses; row++)
        if (ids[row] < 0 || ids[row] >= output->vocab_size) return 2;
    long block = block_of(sentences, hypotheses);
    Scratch scratch;
    int failed = reserve(&scratch, stack, block * hypotheses,
                         result->logits || !result->count ? 0 : larger_of(LOGITS, hypotheses) * output->map.outputs);
    if (failed) return failed;
    for (long first = 0; first < sentences && !failed; first += block) {
        long row = first * hypotheses, count = first + block < sentences ? block : sentences - first;
        embed(embedding, ids + row, count * hypotheses, stack->width, scratch.x);
        failed = step_block(stack, states, first, scratch.x, descent ? descent + row * descent_stride : NULL,
                            src_mask + first * src_len, count, hypotheses, entries, capacity, src_len,
                            descent_stride, scratch);
        failed |= answer(output, scratch.x, first, count, hypotheses, result, scratch);
    }
    free(scratch.space);
    return failed;
}

/* What a map to all logits makes of the outputs x [rows, inputs] of a decoder: of each the log-probability of a token, and
   which token but the banned ones is the most probable.

   Returns 0, 1 without memory, or 2 if one of the tokens is outside the vocabulary. */
int score_tokens(const Linear *map, const float *x, const int64_t *tokens, long rows, const int64_t *banned, long num_banned,
                 float *log_probs, int64_t *best) {
    long inputs = map->inputs, outputs = map->outputs;
    for (long row = 0; row < rows; row++)
        if (tokens[row] < 0 || tokens[row] >= outputs) return 2;
    float row_scale[LOGITS], *logits = malloc(LOGITS * (outputs * sizeof(float) + inputs));
    if (!logits) return 1;
    uint8_t *rounded = (uint8_t *)(logits + LOGITS * outputs);
    int failed = 0;
    for (long first = 0; first < rows && !failed; first += LOGITS) {
        long count = rows - first < LOGITS ? rows - first : LOGITS;
        round_inputs(x + first * inputs, count, inputs, rounded, row_scale);
        apply(map, rounded, row_scale, count, WRITTEN, logits);
        failed = score_rows(logits, tokens + first, count, outputs, banned, num_banned, log_probs + first, best + first);
    }
    free(logits);
    return failed;
}
