// Level 1: rotations made from two numbers. The pointer mode applies to their operands and results.
#include "gpu/blas/call.hpp"
#include "gpu/blas/cpu.hpp"
#include "gpu/blas/letters.hpp"

namespace inflight::blas {
namespace {

// Computes on the numbers of one call in host or device memory, as the pointer mode says.
template <class Compute, class... T>
Status on_numbers(const Call& call, const Handle& handle, Compute compute, T*... numbers) {
  if ((!numbers || ...)) return Status::invalid_value;
  if (handle.pointers == PointerMode::host)
    return call.await([=](const Touch& touch) {
      if (!compute(numbers...)) touch.fail("the CPU has no BLAS library");
    });
  return call.submit([=](const Touch& touch) {
    const auto one = [](auto* number) { return vector(number, 1, 1); };
    if (!touch({read_of(one(numbers))...}) || !touch({one(numbers)...})) return;
    if (!compute(numbers...)) touch.fail("the CPU has no BLAS library");
  });
}

template <class T>
Status rotg(const Call& call, const Handle& handle, T* a, T* b, Real<T>* c, T* s) {
  return on_numbers(
      call, handle, [](auto... numbers) { return cpu::call<T>("rotg", numbers...); }, a, b, c, s);
}

template <class T>
struct Parameters {
  T value[5];
};
template <class T>
Status rotmg(const Call& call, const Handle& handle, T* d1, T* d2, T* x1, const T* y1,
             T* parameters) {
  return on_numbers(
      call, handle,
      [](T* d1, T* d2, T* x1, T* y1, Parameters<T>* p) {
        return cpu::call<T>("rotmg", d1, d2, x1, y1, p->value);
      },
      d1, d2, x1, const_cast<T*>(y1), reinterpret_cast<Parameters<T>*>(parameters));
}

}  // namespace
}  // namespace inflight::blas

using namespace inflight::blas;

#define ROTG(Letter, T, R)                                                         \
  INFLIGHT_CUBLAS int cublas##Letter##rotg_v2(Handle* h, T* a, T* b, R* c, T* s) { \
    return answer(h, "cublas" #Letter "rotg", [&](Handle& handle) {                \
      return rotg(Call("cublas" #Letter "rotg", handle), handle, a, b, c, s);      \
    });                                                                            \
  }
#define ROTMG(Letter, T, R)                                                                     \
  INFLIGHT_CUBLAS int cublas##Letter##rotmg_v2(Handle* h, T* d1, T* d2, T* x1, const T* y1,     \
                                               T* parameters) {                                 \
    return answer(h, "cublas" #Letter "rotmg", [&](Handle& handle) {                            \
      return rotmg(Call("cublas" #Letter "rotmg", handle), handle, d1, d2, x1, y1, parameters); \
    });                                                                                         \
  }

INFLIGHT_LETTERS(ROTG)
INFLIGHT_REAL_LETTERS(ROTMG)
