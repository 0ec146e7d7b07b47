/* Vectors of floats and integers as wide as the processor's, by the extensions that gcc and clang share and, where those have
   no word for it, by the processor's own instructions. */

#ifndef LANES
#include <math.h>
#include <stdint.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#endif

#ifdef __AVX512VNNI__
#define LANES 16 /* floats in a vector */
#elif defined(__ARM_FEATURE_DOTPROD)
#define LANES 4
#else
#define LANES 8
#endif

typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t int_lanes __attribute__((vector_size(4 * LANES), aligned(4)));

#ifdef __clang__
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, (int_lanes){__VA_ARGS__})
#endif

static inline float larger(float a, float b) { return a > b ? a : b; }

static inline lanes load(const float *x) { return *(const lanes *)x; }

static inline void store(float *x, lanes from) { *(lanes *)x = from; }

static inline lanes choose(int_lanes which, lanes yes, lanes no) {
    return (lanes)((which & (int_lanes)yes) | (~which & (int_lanes)no));
}

/* The larger of each pair of numbers; b where one of the two is NaN. */
static inline lanes larger_lanes(lanes a, lanes b) {
#if LANES == 16
    return (lanes)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (lanes)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return choose(a > b, a, b);
#endif
}

static inline int_lanes larger_integers(int_lanes a, int_lanes b) {
#if LANES == 16
    return (int_lanes)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (int_lanes)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    return (int_lanes)choose(a > b, (lanes)a, (lanes)b);
#endif
}

static inline lanes sum_lanes(lanes a, lanes b) { return a + b; }

/* Lane l of the result is what `join` makes of all lanes of x[l]; x is overwritten. */
static inline __attribute__((always_inline)) lanes fold(lanes x[LANES], lanes (*join)(lanes, lanes)) {
#if LANES == 16
#pragma GCC unroll 8
    for (long i = 0; i < 8; i++)
        x[i] = join(PICK(x[i], x[i + 8], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
                    PICK(x[i], x[i + 8], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31));
#pragma GCC unroll 4
    for (long i = 0; i < 4; i++)
        x[i] = join(PICK(x[i], x[i + 4], 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27),
                    PICK(x[i], x[i + 4], 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31));
#pragma GCC unroll 2
    for (long i = 0; i < 2; i++)
        x[i] = join(PICK(x[i], x[i + 2], 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
                    PICK(x[i], x[i + 2], 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31));
    return join(PICK(x[0], x[1], 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30),
                PICK(x[0], x[1], 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31));
#elif LANES == 4
#pragma GCC unroll 2
    for (long i = 0; i < 2; i++) x[i] = join(PICK(x[i], x[i + 2], 0, 1, 4, 5), PICK(x[i], x[i + 2], 2, 3, 6, 7));
    return join(PICK(x[0], x[1], 0, 4, 2, 6), PICK(x[0], x[1], 1, 5, 3, 7));
#else
#pragma GCC unroll 4
    for (long i = 0; i < 4; i++)
        x[i] = join(PICK(x[i], x[i + 4], 0, 1, 2, 3, 8, 9, 10, 11), PICK(x[i], x[i + 4], 4, 5, 6, 7, 12, 13, 14, 15));
#pragma GCC unroll 2
    for (long i = 0; i < 2; i++)
        x[i] = join(PICK(x[i], x[i + 2], 0, 1, 8, 9, 4, 5, 12, 13), PICK(x[i], x[i + 2], 2, 3, 10, 11, 6, 7, 14, 15));
    return join(PICK(x[0], x[1], 0, 8, 2, 10, 4, 12, 6, 14), PICK(x[0], x[1], 1, 9, 3, 11, 5, 13, 7, 15));
#endif
}

/* What `join` makes of all lanes of x. */
static inline __attribute__((always_inline)) float join_all(lanes x, lanes (*join)(lanes, lanes)) {
#if LANES == 16
    x = join(x, PICK(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    x = join(x, PICK(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
    x = join(x, PICK(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
    x = join(x, PICK(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
#elif LANES == 4
    x = join(x, PICK(x, x, 2, 3, 0, 1));
    x = join(x, PICK(x, x, 1, 0, 3, 2));
#else
    x = join(x, PICK(x, x, 4, 5, 6, 7, 0, 1, 2, 3));
    x = join(x, PICK(x, x, 2, 3, 0, 1, 6, 7, 4, 5));
    x = join(x, PICK(x, x, 1, 0, 3, 2, 5, 4, 7, 6));
#endif
    return x[0];
}

static inline float sum_of(lanes x) { return join_all(x, sum_lanes); }

static inline float largest_of(lanes x) { return join_all(x, larger_lanes); }

static inline int_lanes load_integers(const void *x) { return *(const int_lanes *)x; }

#endif
