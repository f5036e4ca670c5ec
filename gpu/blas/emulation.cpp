// The settings for emulated arithmetic, which cuSOLVER reads and sets in each of its handles. Their
// first values and the values that are refused are those of cuBLAS 13.0 on an H100.
#include "gpu/blas/call.hpp"
#include "gpu/blas/handle.hpp"

using namespace inflight::blas;

namespace {

template <class T>
constexpr bool is_any(T) {
  return true;
}
constexpr bool is_strategy(int strategy) { return strategy >= 0 && strategy <= 2; }
constexpr bool is_control(int control) { return control == 0 || control == 1; }
constexpr bool is_mask(int mask) { return mask >= 0 && mask <= 0xffff; }
constexpr bool is_count(int count) { return count >= 0; }

}  // namespace

// Defines cublasSetNAME and cublasGetNAME for a member of Emulation.
#define INFLIGHT_EMULATION(NAME, TYPE, MEMBER, VALID)                           \
  INFLIGHT_CUBLAS int cublasSet##NAME(Handle* handle, TYPE value) {             \
    return answer(handle, "cublasSet" #NAME, [&](Handle& h) {                   \
      if (!VALID(value)) return Status::invalid_value;                          \
      h.emulation.MEMBER = value;                                               \
      return Status::success;                                                   \
    });                                                                         \
  }                                                                             \
  INFLIGHT_CUBLAS int cublasGet##NAME(Handle* handle, TYPE* value) {            \
    return answer(handle, "cublasGet" #NAME,                                    \
                  [&](Handle& h) { return store(value, h.emulation.MEMBER); }); \
  }

INFLIGHT_EMULATION(EmulationStrategy, int, strategy, is_strategy)
INFLIGHT_EMULATION(EmulationSpecialValuesSupport, int, special_values, is_mask)
INFLIGHT_EMULATION(FixedPointEmulationMantissaControl, int, mantissa_control, is_control)
INFLIGHT_EMULATION(FixedPointEmulationMaxMantissaBitCount, int, most_mantissa_bits, is_count)
INFLIGHT_EMULATION(FixedPointEmulationMantissaBitOffset, int, mantissa_bit_offset, is_any)
INFLIGHT_EMULATION(FixedPointEmulationMantissaBitCountPointer, int*, mantissa_bits, is_any)
