/* The structures that Python gives to C, which structures.py declares too, and the functions that one source file calls of
   another. */

#ifndef STRUCTURES_H
#define STRUCTURES_H

#include <stdint.h>

typedef struct {
    const int8_t *weight;       /* [outputs / PANEL][inputs / 4][PANEL][4], outputs filled up with zeros */
    const float *scale, *bias;  /* [outputs, filled up] */
    const int32_t *start;       /* [outputs, filled up]: takes back what it adds that inputs are moved by 128 */
    int64_t inputs, outputs;
} Linear;

typedef struct {
    const float *weight, *bias; /* [width]; no weight: no norm; no bias: root mean square instead of layer norm */
    float epsilon;
} Norm;

typedef struct {
    Linear qkv, self_out, cross_q, cross_out, inner, outer;
    Norm self_norm, cross_norm, ff_norm;
} Layer;

typedef struct {
    int64_t layers, width, heads, groups, head_dim, ff_width, norm_first, activation; /* 0 relu, 1 gelu, 2 swiglu, 3 swish */
    const Layer *layer;
    Norm last_norm;
} Stack;

typedef struct {
    float *self_kv;          /* [sentences, 2, groups, capacity, head_dim] */
    float *memory_kv;        /* [sentences, 2, groups, src_len, head_dim], by strides of [sentence, k or v, group, key] */
    int64_t memory_strides[4];
    float *cross_weights; /* [sentences, hypotheses, heads, src_len], zeros; null = they are not wanted */
} LayerState;

typedef struct {
    const float *table;    /* [tokens, width], or null: */
    const int8_t *rounded; /* [tokens, width], */
    const float *scales;   /* times these, [tokens] */
    float scale;
    const float *position; /* [width], of the newest tokens, or null; for `beam_search` of all positions, [capacity, width] */
} Embedding;

/* The map to logits, and which tokens its outputs stand for: null = all of the vocabulary, in order. The last outputs may be
   a sample of tokens that cannot come, for the sum of all probabilities. */
typedef struct {
    Linear map;
    const int64_t *tokens; /* [map.outputs - sampled] */
    int64_t vocab_size, sampled;
    float weight; /* how many tokens each of the sample stands for */
} Output;

/* The wanted result of a step: what logits are made of, if it is wanted, and all logits or the best continuations as
   `best_continuations` gives them, or neither. */
typedef struct {
    float *states; /* [sentences * hypotheses, width], what the layers give; null = not wanted */
    float *logits; /* [sentences * hypotheses, outputs]; null = the others, of which `count` 0 wants none */
    const float *sums;
    const int64_t *banned;
    int64_t num_banned, count;
    float *log_probs;
    int64_t *beams, *columns;
} StepResult;

/* A beam search of sentences, each with a number; `room` is for the longest output, in tokens. */
typedef struct {
    int64_t *numbers; /* [rows], which sentence each row is of */
    int64_t *ids;     /* [rows, beam_size], the newest tokens; in the first step [rows] */
    float *sums;      /* as ids, log-probabilities of the hypotheses */
    uint8_t *descent; /* [rows, beam_size, capacity], which entries of the caches each comes from; null for one hypothesis */
    const int64_t *limits; /* [sentences], most tokens of each, EOS counted */
    int64_t *lengths;      /* [sentences], steps so far */
    int64_t *token_ids;    /* [sentences, room, beam_size], of each step the newest tokens, */
    int64_t *beams;        /*    which hypothesis of the step before each continues, */
    float *log_probs;      /*    and the log-probability of each with all before it */
    float *states;         /* [sentences, room, beam_size, width], from which each step chose; null = not wanted */
    int64_t *num_endings;  /* [sentences], finished hypotheses */
    int64_t *end_lengths;  /* [sentences, 2 * beam_size], tokens of each, EOS counted, */
    int64_t *end_beams;    /*    which hypothesis of the step before EOS each continues, */
    float *end_log_probs;  /*    and its log-probability */
    const int64_t *banned;
    int64_t num_banned, room, eos, beam_size, wanted; /* wanted: how many finished hypotheses suffice */
    double length_penalty;
} Search;

int best_continuations(float *logits, const float *sums, const int64_t *banned, long num_banned, long sentences,
                       long hypotheses, long cols, long sampled, float weight, long count, float *log_probs,
                       int64_t *beams, int64_t *columns);
int score_rows(float *logits, const int64_t *tokens, long rows, long cols, const int64_t *banned, long num_banned,
               float *log_probs, int64_t *best);
int attend(const float *q, const long *q_strides, const float *k, const long *k_strides, const float *v,
           const long *v_strides, const uint8_t *mask, const long *mask_strides, long batch, long heads, long groups,
           long queries, long keys, long dim, long value_dim, float scale, float *out, float *kept);
int decode_step(const Stack *stack, const Output *output, const Embedding *embedding, const LayerState *states,
                const int64_t *ids, const uint8_t *descent, const uint8_t *src_mask, long sentences, long hypotheses,
                long entries, long capacity, long src_len, long descent_stride, const StepResult *result);

#endif
