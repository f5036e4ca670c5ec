// Numbers of a few significant bits, and their products.
#pragma once

namespace inflight::texture {

// Is `v` neither 0 nor infinite nor NaN?
bool is_plain(double v);
// The weight of the lowest of the `bits` significant bits of `v`.
double step_of(double v, int bits);
// Truncates `v` to `bits` significant bits.
double cut_to(double v, int bits);
// The product of two numbers of ten bits, in ten bits. The hardware leaves out the partial products
// below 2^6, and adds 7 * 2^6 instead. Longer numbers are truncated.
double product(double a, double b);
// The sum of two lengths, each truncated to the tenth bit of the greater.
double sum_of_lengths(double a, double b);
// a - b of two places. The smaller is truncated to a bit below the greater's last.
double difference(float a, float b);

}  // namespace inflight::texture
