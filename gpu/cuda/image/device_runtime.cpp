// PTX for the functions of NVIDIA's device runtime that the software GPU provides.
#include "gpu/cuda/image/device_runtime.hpp"

#include <algorithm>
#include <iterator>

namespace inflight::cuda {
namespace {

// A grid's handle is the address of its workspace {u32 bytes; u32 barrier}, held in %envreg1:2.
// Each phase, the blocks' arrivals together flip the barrier's highest bit: block 0 adds the
// remainder.
constexpr const char* text = R"(.version 6.0
.target sm_50
.address_size 64

.extern .func inflight_multi_grid();

.visible .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .pred %grid, %multi; .reg .b32 %scope, %low, %high; .reg .b64 %handle;
  ld.param.b32 %scope, [scope];
  mov.b32 %high, %envreg1;
  mov.b32 %low, %envreg2;
  mov.b64 %handle, {%low, %high};
  setp.eq.u32 %multi, %scope, 2;
  @%multi call inflight_multi_grid;
  setp.eq.u32 %grid, %scope, 1;
  selp.b64 %handle, %handle, 0, %grid;
  st.param.b64 [result], %handle;
  ret;
}

.visible .func (.param .b32 result) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %none, %first, %waiting; .reg .b64 %handle;
  .reg .b32 %x, %y, %z, %blocks, %arrival, %before, %now;
  ld.param.b64 %handle, [handle];
  setp.eq.u64 %none, %handle, 0;
  @%none bra INVALID;
  barrier.sync 0;
  mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z;
  or.b32 %x, %x, %y; or.b32 %x, %x, %z;
  setp.eq.u32 %first, %x, 0;
  @!%first bra ARRIVED;
  mov.u32 %x, %nctaid.x; mov.u32 %y, %nctaid.y; mov.u32 %z, %nctaid.z;
  mul.lo.u32 %blocks, %x, %y; mul.lo.u32 %blocks, %blocks, %z;
  sub.u32 %blocks, 0x80000001, %blocks;
  mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %z, %ctaid.z;
  or.b32 %x, %x, %y; or.b32 %x, %x, %z;
  setp.eq.u32 %first, %x, 0;
  selp.b32 %arrival, %blocks, 1, %first;
  fence.sc.gpu;
  atom.global.add.u32 %before, [%handle+4], %arrival;
WAIT:
  ld.volatile.global.u32 %now, [%handle+4];
  xor.b32 %now, %now, %before;
  setp.ge.s32 %waiting, %now, 0;
  @%waiting bra WAIT;
  fence.sc.gpu;
ARRIVED:
  barrier.sync 0;
  st.param.b32 [result], 0;
  ret;
INVALID:
  st.param.b32 [result], 1;
  ret;
}

.visible .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .b64 %handle; .reg .b32 %flags, %result;
  ld.param.b64 %handle, [handle];
  ld.param.b32 %flags, [flags];
  {
    .param .b64 h; .param .b32 f; .param .b32 r;
    st.param.b64 [h], %handle;
    st.param.b32 [f], %flags;
    call.uni (r), cudaCGSynchronizeGrid, (h, f);
    ld.param.b32 %result, [r];
  }
  st.param.b32 [result], %result;
  ret;
}
)";

constexpr std::string_view functions[] = {"cudaCGGetIntrinsicHandle", "cudaCGSynchronizeGrid",
                                          "cudaCGSynchronize"};

}  // namespace

bool is_supplied(std::string_view function) {
  return std::find(std::begin(functions), std::end(functions), function) != std::end(functions);
}

bool needs_device_runtime(const ptx::Module& module) {
  return std::any_of(module.functions.begin(), module.functions.end(),
                     [](const ptx::Function& function) {
                       return !function.has_body && is_supplied(function.name);
                     });
}

std::shared_ptr<const std::string> device_runtime() {
  static const auto shared = std::make_shared<const std::string>(text);
  return shared;
}

}  // namespace inflight::cuda
