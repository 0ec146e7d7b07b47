/* How C lays out the structures. */

#include <stddef.h>

#include "structures.h"

/* Where each structure and field lies and how large it is; structures.py checks its declarations against this. */
#define SIZE(type) {#type, 0, sizeof(type)}
#define FIELD(type, field) {#type "." #field, offsetof(type, field), sizeof(((type *)0)->field)}
typedef struct {
    const char *name;
    int64_t offset, bytes;
} Place;
const Place struct_layout[] = {
    SIZE(Linear), FIELD(Linear, weight), FIELD(Linear, scale), FIELD(Linear, bias), FIELD(Linear, start),
    FIELD(Linear, inputs), FIELD(Linear, outputs),
    SIZE(Norm), FIELD(Norm, weight), FIELD(Norm, bias), FIELD(Norm, epsilon),
    SIZE(Layer), FIELD(Layer, qkv), FIELD(Layer, self_out), FIELD(Layer, cross_q), FIELD(Layer, cross_out),
    FIELD(Layer, inner), FIELD(Layer, outer), FIELD(Layer, self_norm), FIELD(Layer, cross_norm),
    FIELD(Layer, ff_norm),
    SIZE(Stack), FIELD(Stack, layers), FIELD(Stack, width), FIELD(Stack, heads), FIELD(Stack, groups),
    FIELD(Stack, head_dim), FIELD(Stack, ff_width), FIELD(Stack, norm_first), FIELD(Stack, activation),
    FIELD(Stack, layer), FIELD(Stack, last_norm),
    SIZE(LayerState), FIELD(LayerState, self_kv), FIELD(LayerState, memory_kv), FIELD(LayerState, memory_strides),
    FIELD(LayerState, cross_weights),
    SIZE(Embedding), FIELD(Embedding, table), FIELD(Embedding, rounded), FIELD(Embedding, scales),
    FIELD(Embedding, scale), FIELD(Embedding, position),
    SIZE(Output), FIELD(Output, map), FIELD(Output, tokens), FIELD(Output, vocab_size),
    FIELD(Output, sampled), FIELD(Output, weight),
    SIZE(StepResult), FIELD(StepResult, states), FIELD(StepResult, logits), FIELD(StepResult, sums), FIELD(StepResult, banned), FIELD(StepResult, num_banned),
    FIELD(StepResult, count), FIELD(StepResult, log_probs), FIELD(StepResult, beams), FIELD(StepResult, columns),
    SIZE(Search), FIELD(Search, numbers), FIELD(Search, ids), FIELD(Search, sums), FIELD(Search, descent),
    FIELD(Search, limits), FIELD(Search, lengths), FIELD(Search, token_ids), FIELD(Search, beams),
    FIELD(Search, log_probs), FIELD(Search, states), FIELD(Search, num_endings), FIELD(Search, end_lengths), FIELD(Search, end_beams),
    FIELD(Search, end_log_probs), FIELD(Search, banned), FIELD(Search, num_banned), FIELD(Search, room),
    FIELD(Search, eos), FIELD(Search, beam_size), FIELD(Search, wanted), FIELD(Search, length_penalty),
    {NULL, 0, 0},
};
