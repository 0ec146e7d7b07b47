/* A whole beam search, or with one hypothesis a greedy one: the decoder's steps, and which hypotheses go on. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "structures.h"

/* Lets row `from` take the place of row `to`, of which nothing is needed any more. */
static void move_row(const Stack *stack, const LayerState *states, uint8_t *src_mask, long src_len, long entries,
                     long capacity, long from, long to) {
    long dim = stack->head_dim, parts = 2 * stack->groups;
    memcpy(src_mask + to * src_len, src_mask + from * src_len, src_len);
    for (long number = 0; number < stack->layers; number++) {
        const LayerState *state = states + number;
        const int64_t *strides = state->memory_strides;
        for (long part = 0; part < parts; part++) {
            float *own = state->self_kv + part * capacity * dim;
            memcpy(own + to * parts * capacity * dim, own + from * parts * capacity * dim, entries * dim * sizeof(float));
            float *memory = state->memory_kv + part / stack->groups * strides[1] + part % stack->groups * strides[2];
            for (long key = 0; key < src_len; key++)
                memcpy(memory + to * strides[0] + key * strides[3], memory + from * strides[0] + key * strides[3],
                       dim * sizeof(float));
        }
    }
}

static double score(const Search *search, float log_prob, long length) {
    return log_prob / pow(length, search->length_penalty);
}

/* Continues the hypotheses of a row by a token, given its candidates, best first: those among the best `beam_size` that
   end are finished, the best `beam_size` others go on. */
static void extend(const Search *search, long row, const StepResult *candidates) {
    long size = search->beam_size, sentence = search->numbers[row], length = search->lengths[sentence]++, going = 0;
    long to = (sentence * search->room + length) * size;
    for (long rank = 0; rank < candidates->count; rank++) {
        long from = row * candidates->count + rank;
        float log_prob = candidates->log_probs[from];
        if (candidates->columns[from] == search->eos && log_prob != -INFINITY) {
            if (rank >= size) continue;
            long ending = 2 * size * sentence + search->num_endings[sentence]++;
            search->end_lengths[ending] = length + 1;
            search->end_beams[ending] = candidates->beams[from];
            search->end_log_probs[ending] = log_prob;
        } else if (going < size) {
            search->token_ids[to + going] = candidates->columns[from];
            search->beams[to + going] = candidates->beams[from];
            search->log_probs[to + going++] = log_prob;
        }
    }
    for (; going < size; going++) search->log_probs[to + going] = -INFINITY;
}

/* Whether nothing that goes on can still be among the best of the sentence of a row. */
static int is_done(const Search *search, long row) {
    long size = search->beam_size, sentence = search->numbers[row], length = search->lengths[sentence];
    long endings = search->num_endings[sentence], limit = search->limits[sentence], as_good = 0;
    if (length >= limit || endings >= size) return 1;
    float best = search->log_probs[(sentence * search->room + length - 1) * size];
    if (endings < search->wanted) return best == -INFINITY;
    double most = score(search, best, limit);
    for (long ending = 2 * size * sentence, end = ending + endings; ending < end; ending++)
        as_good += score(search, search->end_log_probs[ending], search->end_lengths[ending]) >= most;
    return as_good >= search->wanted;
}

/* The newest tokens of a row become the inputs of the next step; `entries` of the caches are behind them. */
static void prepare(const Search *search, long row, long entries, long capacity, uint8_t *space) {
    long size = search->beam_size, sentence = search->numbers[row];
    long newest = (sentence * search->room + search->lengths[sentence] - 1) * size;
    memcpy(search->ids + row * size, search->token_ids + newest, size * sizeof(int64_t));
    memcpy(search->sums + row * size, search->log_probs + newest, size * sizeof(float));
    if (!search->descent) return;
    uint8_t *descent = search->descent + row * size * capacity;
    memcpy(space, descent, size * capacity);
    for (long beam = 0; beam < size; beam++) {
        if (entries == 1) descent[beam * capacity] = 1;
        else memcpy(descent + beam * capacity, space + search->beams[newest + beam] * capacity, entries);
    }
}

/* Each hypothesis may look at its own newest entry, and at that of no other. */
static void look_at_own(const Search *search, long rows, long entries, long capacity) {
    long size = search->beam_size;
    for (long one = 0; one < rows * size; one++) {
        memset(search->descent + one * capacity + entries, 0, size);
        search->descent[one * capacity + entries + one % size] = 1;
    }
}

/* Searches until all sentences are done or the caches are full: with one hypothesis greedily, else with a beam.

   src_mask  [rows, src_len], real source tokens; as all of the search, it moves with the rows
   rows      of sentences that are not done
   entries   of the caches so far: one of the first step, then `beam_size` of each

   Returns how many rows go on, or less than 0: the negative code of what failed. */
long beam_search(const Stack *stack, const Output *output, const Embedding *embedding, const LayerState *states,
                 uint8_t *src_mask, long rows, long entries, long capacity, long src_len, const Search *search) {
    long size = search->beam_size, count = size > 1 ? 2 * size : 1, length = entries ? (entries - 1) / size + 1 : 0;
    long width = search->states ? stack->width : 0;
    int64_t *beams = malloc(rows * (count * (2 * sizeof(int64_t) + sizeof(float)) + size * width * sizeof(float)) + size * capacity);
    if (!beams) return -1;
    int64_t *columns = beams + rows * count;
    float *log_probs = (float *)(columns + rows * count), *newest_states = log_probs + rows * count;
    uint8_t *space = (uint8_t *)(newest_states + rows * size * width);
    long failed = 0;
    for (long hypotheses; rows && !failed; entries += hypotheses, length++) {
        hypotheses = entries ? size : 1;
        if (entries + hypotheses > capacity) break;
        if (entries && search->descent) look_at_own(search, rows, entries, capacity);
        Embedding newest = *embedding;
        if (newest.position) newest.position += length * stack->width;
        StepResult found = {width ? newest_states : NULL, NULL, search->sums, search->banned, search->num_banned, count, log_probs, beams, columns};
        failed = decode_step(stack, output, &newest, states, search->ids, entries ? search->descent : NULL, src_mask,
                             rows, hypotheses, entries, capacity, src_len, capacity, &found);
        if (failed) break; /* nothing was found */
        for (long row = 0; row < rows && width; row++)
            memcpy(search->states + (search->numbers[row] * search->room + length) * size * width,
                   newest_states + row * hypotheses * width, hypotheses * width * sizeof(float));
        for (long row = rows - 1; row >= 0; row--) { /* the last one is known to go on when it moves */
            extend(search, row, &found);
            if (!is_done(search, row) || row == --rows) continue;
            move_row(stack, states, src_mask, src_len, entries + hypotheses, capacity, rows, row);
            search->numbers[row] = search->numbers[rows];
            if (search->descent)
                memcpy(search->descent + row * size * capacity, search->descent + rows * size * capacity, size * capacity);
        }
        for (long row = 0; row < rows; row++) prepare(search, row, entries + hypotheses, capacity, space);
    }
    free(beams);
    return failed ? -failed : rows;
}
