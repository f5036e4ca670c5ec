// The letters of BLAS, for families of entry points: X(letter, element type, real type).
#pragma once
#include "gpu/blas/abi.hpp"

#define INFLIGHT_REAL_LETTERS(X) X(S, float, float) X(D, double, double)
#define INFLIGHT_COMPLEX_LETTERS(X) X(C, Complex, float) X(Z, DoubleComplex, double)
#define INFLIGHT_LETTERS(X) INFLIGHT_REAL_LETTERS(X) INFLIGHT_COMPLEX_LETTERS(X)

// An entry point of the name with its suffix for wide sizes, and its name as programs write it.
#define INFLIGHT_ENTRY(name) INFLIGHT_CUBLAS int INFLIGHT_SIZED(name)
