/* Products of bytes, four for each sum of a vector: in one instruction where the processor has it (VNNI of x86, dot
   products of ARM), in four with AVX2, and in plain C. All give the same sums.

   ROWS     inputs that share a reading of the weights
   VECTORS  of sums for each of them; as many as the processor has room for */

#include <string.h>

#include "lanes.h"

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define MOVED 1 /* one factor of the products has no sign: inputs stay moved by 128, which `start` takes back */
#else
#define MOVED 0
#endif

#if LANES == 16
#define ROWS 6
#define VECTORS 4
#elif LANES == 4
#define ROWS 4
#define VECTORS 4
#else
#define ROWS 4
#define VECTORS 2
#endif

typedef uint8_t byte_lanes __attribute__((vector_size(LANES), aligned(1)));
typedef int16_t short_lanes __attribute__((vector_size(4 * LANES), aligned(4)));

static inline int_lanes first_sum(const int32_t *start) { return MOVED ? load_integers(start) : (int_lanes){0}; }

/* Four inputs, rounded and moved by 128, in every lane. */
static inline int_lanes four_inputs(const uint8_t *x) {
    int32_t four;
    memcpy(&four, x, 4);
    return (int_lanes){0} + (MOVED ? four : four ^ (int32_t)0x80808080);
}

/* Adds to every sum the products of its four weights with the four inputs. */
static inline int_lanes add_products(int_lanes sums, int_lanes inputs, int_lanes weights) {
#if LANES == 16
    return (int_lanes)_mm512_dpbusd_epi32((__m512i)sums, (__m512i)inputs, (__m512i)weights);
#elif defined(__AVXVNNI__)
    return (int_lanes)_mm256_dpbusd_avx_epi32((__m256i)sums, (__m256i)inputs, (__m256i)weights);
#elif defined(__AVX2__) /* the sign goes to the weights; two products of at most 128 * 127 fit into 16 bits */
    __m256i moved = _mm256_sign_epi8((__m256i)weights, (__m256i)inputs);
    __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8((__m256i)inputs), moved);
    return sums + (int_lanes)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#elif defined(__ARM_FEATURE_DOTPROD)
    return (int_lanes)vdotq_s32((int32x4_t)sums, (int8x16_t)inputs, (int8x16_t)weights);
#else /* the same in 16-bit integers, bytes of even and of odd places */
    short_lanes x = (short_lanes)inputs, w = (short_lanes)weights;
    int_lanes pairs = (int_lanes)(((x << 8) >> 8) * ((w << 8) >> 8) + (x >> 8) * (w >> 8));
    return sums + ((pairs << 16) >> 16) + (pairs >> 16);
#endif
}
