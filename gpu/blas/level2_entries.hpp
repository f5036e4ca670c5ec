// The entry points of level2.cpp, by family and letter. Only level2.cpp includes this file.
#pragma once

using namespace inflight::blas;

#define GENERAL(Letter, T, R)                                                                   \
  INFLIGHT_ENTRY(cublas##Letter##gemv_v2)                                                       \
  (Handle * h, Operation op, Int m, Int n, const T* alpha, const T* a, Int lda, const T* x,     \
   Int dx, const T* beta, T* y, Int dy) {                                                       \
    return enter("cublas" #Letter "gemv", h, gemv<T>, op, m, n, alpha, a, lda, x, dx, beta, y,  \
                 dy);                                                                           \
  }                                                                                             \
  INFLIGHT_ENTRY(cublas##Letter##gbmv_v2)                                                       \
  (Handle * h, Operation op, Int m, Int n, Int below, Int above, const T* alpha, const T* a,    \
   Int lda, const T* x, Int dx, const T* beta, T* y, Int dy) {                                  \
    return enter("cublas" #Letter "gbmv", h, gbmv<T>, op, m, n, below, above, alpha, a, lda, x, \
                 dx, beta, y, dy);                                                              \
  }

#define TRIANGULAR(Letter, T, what, ending)                                                        \
  INFLIGHT_ENTRY(cublas##Letter##tr##ending##_v2)                                                  \
  (Handle * h, Fill fill, Operation op, Diagonal diagonal, Int n, const T* a, Int lda, T* x,       \
   Int dx) {                                                                                       \
    return enter("cublas" #Letter "tr" #ending, h, tr<T, Triangular::what>, fill, op, diagonal, n, \
                 a, lda, x, dx);                                                                   \
  }                                                                                                \
  INFLIGHT_ENTRY(cublas##Letter##tb##ending##_v2)                                                  \
  (Handle * h, Fill fill, Operation op, Diagonal diagonal, Int n, Int k, const T* a, Int lda,      \
   T* x, Int dx) {                                                                                 \
    return enter("cublas" #Letter "tb" #ending, h, tb<T, Triangular::what>, fill, op, diagonal, n, \
                 k, a, lda, x, dx);                                                                \
  }                                                                                                \
  INFLIGHT_ENTRY(cublas##Letter##tp##ending##_v2)                                                  \
  (Handle * h, Fill fill, Operation op, Diagonal diagonal, Int n, const T* a, T* x, Int dx) {      \
    return enter("cublas" #Letter "tp" #ending, h, tp<T, Triangular::what>, fill, op, diagonal, n, \
                 a, x, dx);                                                                        \
  }
#define TRIANGULARS(Letter, T, R)    \
  TRIANGULAR(Letter, T, product, mv) \
  TRIANGULAR(Letter, T, solution, sv)

#define MATRIX_VECTOR(name, function, T)                                                  \
  INFLIGHT_ENTRY(name##_v2)                                                               \
  (Handle * h, Fill fill, Int n, const T* alpha, const T* a, Int lda, const T* x, Int dx, \
   const T* beta, T* y, Int dy) {                                                         \
    return enter(#name, h, function<T>, fill, n, alpha, a, lda, x, dx, beta, y, dy);      \
  }
#define BAND_AND_PACKED(band, pack, T)                                                           \
  INFLIGHT_ENTRY(band##_v2)                                                                      \
  (Handle * h, Fill fill, Int n, Int k, const T* alpha, const T* a, Int lda, const T* x, Int dx, \
   const T* beta, T* y, Int dy) {                                                                \
    return enter(#band, h, sbmv<T>, fill, n, k, alpha, a, lda, x, dx, beta, y, dy);              \
  }                                                                                              \
  INFLIGHT_ENTRY(pack##_v2)                                                                      \
  (Handle * h, Fill fill, Int n, const T* alpha, const T* a, const T* x, Int dx, const T* beta,  \
   T* y, Int dy) {                                                                               \
    return enter(#pack, h, spmv<T>, fill, n, alpha, a, x, dx, beta, y, dy);                      \
  }

#define RANK1(name, function, T)                                                           \
  INFLIGHT_ENTRY(name##_v2)                                                                \
  (Handle * h, Int m, Int n, const T* alpha, const T* x, Int dx, const T* y, Int dy, T* a, \
   Int lda) {                                                                              \
    return enter(#name, h, function, m, n, alpha, x, dx, y, dy, a, lda);                   \
  }
#define SELF_UPDATE(name, T, S, ...)                                                  \
  INFLIGHT_ENTRY(name##_v2)                                                           \
  (Handle * h, Fill fill, Int n, const S* alpha, const T* x, Int dx, T* a, Int lda) { \
    return enter(#name, h, __VA_ARGS__, fill, n, alpha, x, dx, a, lda);               \
  }
#define PAIR_UPDATE(name, function, T)                                                         \
  INFLIGHT_ENTRY(name##_v2)                                                                    \
  (Handle * h, Fill fill, Int n, const T* alpha, const T* x, Int dx, const T* y, Int dy, T* a, \
   Int lda) {                                                                                  \
    return enter(#name, h, function<T>, fill, n, alpha, x, dx, y, dy, a, lda);                 \
  }
#define PACKED_UPDATES(one, two, T, S)                                                           \
  INFLIGHT_ENTRY(one##_v2)                                                                       \
  (Handle * h, Fill fill, Int n, const S* alpha, const T* x, Int dx, T* a) {                     \
    return enter(#one, h, spr<T, S>, fill, n, alpha, x, dx, a);                                  \
  }                                                                                              \
  INFLIGHT_ENTRY(two##_v2)                                                                       \
  (Handle * h, Fill fill, Int n, const T* alpha, const T* x, Int dx, const T* y, Int dy, T* a) { \
    return enter(#two, h, spr2<T>, fill, n, alpha, x, dx, y, dy, a);                             \
  }

#define REAL_MATRICES(Letter, T, R)                              \
  MATRIX_VECTOR(cublas##Letter##symv, symv, T)                   \
  BAND_AND_PACKED(cublas##Letter##sbmv, cublas##Letter##spmv, T) \
  RANK1(cublas##Letter##ger, (ger<T, false>), T)                 \
  SELF_UPDATE(cublas##Letter##syr, T, T, syr<T, T>)              \
  PAIR_UPDATE(cublas##Letter##syr2, syr2, T)                     \
  PACKED_UPDATES(cublas##Letter##spr, cublas##Letter##spr2, T, T)
#define COMPLEX_MATRICES(Letter, T, R)                           \
  MATRIX_VECTOR(cublas##Letter##hemv, symv, T)                   \
  MATRIX_VECTOR(cublas##Letter##symv, complex_symv, T)           \
  BAND_AND_PACKED(cublas##Letter##hbmv, cublas##Letter##hpmv, T) \
  RANK1(cublas##Letter##geru, (ger<T, false>), T)                \
  RANK1(cublas##Letter##gerc, (ger<T, true>), T)                 \
  SELF_UPDATE(cublas##Letter##her, T, R, syr<T, R>)              \
  SELF_UPDATE(cublas##Letter##syr, T, T, complex_syr<T>)         \
  PAIR_UPDATE(cublas##Letter##her2, syr2, T)                     \
  PAIR_UPDATE(cublas##Letter##syr2, complex_syr2, T)             \
  PACKED_UPDATES(cublas##Letter##hpr, cublas##Letter##hpr2, T, R)

INFLIGHT_LETTERS(GENERAL)
INFLIGHT_LETTERS(TRIANGULARS)
INFLIGHT_REAL_LETTERS(REAL_MATRICES)
INFLIGHT_COMPLEX_LETTERS(COMPLEX_MATRICES)
