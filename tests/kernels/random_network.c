/* Prints what random linear maps give, then what the layers of a random network compute. The same program, compiled for
   every instruction set, must print the same numbers up to rounding; test_emulated.py runs it for processors that are not at
   hand, too. It includes the sources, so that it uses their structures as they are. Its argument is the width of the heads. */

#include "../../translate/kernels/kernels.c"
#include "../../translate/kernels/layers.c"

#include <stdio.h>

enum { WIDTH = 96, HEADS = 3, FF = 208, VOCAB = 150, LAYERS = 2, SENTENCES = 7, SRC_LEN = 9, STEPS = 6 };

static long dim; /* of a head */

static uint64_t drawn = 1;

/* The next pseudo-random number in [-1, 1), by a linear congruential generator. */
static float draw(void) {
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (float)((double)(int64_t)(drawn >> 11) / (double)(1ll << 52) - 1);
}

static float *draw_many(long count, float scale) {
    float *x = malloc(count * sizeof(float));
    for (long i = 0; i < count; i++) x[i] = draw() * scale;
    return x;
}

static Linear draw_linear(long outputs, long inputs) {
    long filled = (outputs + PANEL - 1) / PANEL * PANEL;
    int8_t *weight = malloc(outputs * inputs), *panels = calloc(filled * inputs, 1);
    int32_t *start = calloc(filled, sizeof(int32_t));
    for (long i = 0; i < outputs * inputs; i++) weight[i] = (int8_t)(draw() * 127);
    pack(weight, NULL, outputs, inputs, panels, start);
    free(weight);
    float *scale = draw_many(filled, 0);
    for (long o = 0; o < outputs; o++) scale[o] = (1 + draw() / 2) / (127 * 127 * sqrtf(inputs));
    return (Linear){panels, scale, draw_many(filled, 0.1f), start, inputs, outputs};
}

static Norm draw_norm(void) {
    float *weight = draw_many(WIDTH, 0.5f);
    for (long j = 0; j < WIDTH; j++) weight[j] += 1;
    return (Norm){weight, draw_many(WIDTH, 0.1f), 1e-5f};
}

static Layer draw_layer(void) {
    return (Layer){draw_linear(3 * HEADS * dim, WIDTH), draw_linear(WIDTH, HEADS * dim), draw_linear(HEADS * dim, WIDTH),
                   draw_linear(WIDTH, HEADS * dim),     draw_linear(FF, WIDTH),          draw_linear(WIDTH, FF),
                   draw_norm(),                         draw_norm(),                     draw_norm()};
}

static void print_all(const float *x, long count) {
    for (long i = 0; i < count; i++) printf("%.9g\n", x[i]);
}

int main(int count, char **arguments) {
    if (count != 2) return 1;
    dim = atol(arguments[1]);
    Layer layers[LAYERS];
    for (long number = 0; number < LAYERS; number++) layers[number] = draw_layer();
    Stack stack = {LAYERS, WIDTH, HEADS, HEADS, dim, FF, 1, 0, layers, draw_norm()};
    uint8_t mask[SENTENCES * SRC_LEN];
    for (long i = 0; i < SENTENCES * SRC_LEN; i++) mask[i] = i % SRC_LEN <= i / SRC_LEN;

    for (long rows = 1; rows < 14; rows++) { /* every number of rows that is left over, whatever ROWS is */
        Linear map = draw_linear(70, 112);
        float *x = draw_many(rows * 112, 1), *out = malloc(rows * 70 * sizeof(float));
        if (project(&map, x, rows, out)) return 1;
        print_all(out, rows * 70);
    }

    float *x = draw_many(SENTENCES * SRC_LEN * WIDTH, 1);
    if (encode(&stack, x, mask, SENTENCES, SRC_LEN)) return 1;
    for (long i = 0; i < SENTENCES * SRC_LEN; i++)
        if (mask[i]) print_all(x + i * WIDTH, WIDTH);

    Output output = {draw_linear(VOCAB, WIDTH), NULL, VOCAB, 0, 0};
    Embedding embedding = {draw_many(VOCAB * WIDTH, 1), NULL, NULL, 1, draw_many(WIDTH, 1)};
    LayerState states[LAYERS];
    for (long number = 0; number < LAYERS; number++)
        states[number] = (LayerState){draw_many(SENTENCES * 2 * HEADS * STEPS * dim, 0),
                                      draw_many(SENTENCES * 2 * HEADS * SRC_LEN * dim, 1),
                                      {2 * HEADS * SRC_LEN * dim, HEADS * SRC_LEN * dim, SRC_LEN * dim, dim},
                                      NULL};
    int64_t ids[SENTENCES];
    float logits[SENTENCES * VOCAB];
    StepResult result = {.logits = logits};
    for (long step = 0; step < STEPS; step++) {
        for (long s = 0; s < SENTENCES; s++) ids[s] = (step * 31 + s * 17) % VOCAB;
        if (decode_step(&stack, &output, &embedding, states, ids, NULL, mask, SENTENCES, 1, step, STEPS, SRC_LEN, 0, &result))
            return 1;
        print_all(logits, SENTENCES * VOCAB);
        float sums[SENTENCES] = {0}, log_probs[SENTENCES * 4];
        int64_t beams[SENTENCES * 4], columns[SENTENCES * 4];
        if (best_continuations(logits, sums, ids, 1, SENTENCES, 1, VOCAB, 0, 0, 4, log_probs, beams, columns)) return 1;
        print_all(log_probs, SENTENCES * 4);
    }
    return 0;
}
