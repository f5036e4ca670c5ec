// The letters of BLAS, for families of entry points: X(letter, element type, real type).
#pragma once
#include "gpu/blas/abi.hpp"

#define INFLIGHT_REAL_LETTERS(X) X(S, float, float) X(D, double, double)
#define INFLIGHT_COMPLEX_LETTERS(X) X(C, Complex, float) X(Z, DoubleComplex, double)
#define INFLIGHT_LETTERS(X) INFLIGHT_REAL_LETTERS(X) INFLIGHT_COMPLEX_LETTERS(X)

// Declares an entry point. Its name gets the suffix _64 where sizes have 64 bits.
#define INFLIGHT_ENTRY(name) INFLIGHT_CUBLAS int INFLIGHT_SIZED(name)
