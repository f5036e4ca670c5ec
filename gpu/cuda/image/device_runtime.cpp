// PTX for the functions of NVIDIA's device runtime that the software GPU provides.
#include "gpu/cuda/image/device_runtime.hpp"

#include <algorithm>
#include <iterator>

namespace inflight::cuda {
namespace {

// A grid's handle is the address of its workspace {u32 bytes; u32 barrier; u64 of_all; u32 rank;
// u32 grids}, held in %envreg1:2. The handle of the grids launched together is 8 more. Each phase,
// the blocks' arrivals together flip the barrier's highest bit: block 0 adds the remainder. So do
// the grids' at of_all, the address of their barrier.
constexpr const char* text = R"(.version 6.0
.target sm_50
.address_size 64

.visible .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .pred %grid, %multi; .reg .b32 %scope, %low, %high, %grids; .reg .b64 %handle;
  ld.param.b32 %scope, [scope];
  mov.b32 %high, %envreg1;
  mov.b32 %low, %envreg2;
  mov.b64 %handle, {%low, %high};
  setp.eq.u32 %multi, %scope, 2;
  @%multi bra MULTI;
  setp.eq.u32 %grid, %scope, 1;
  selp.b64 %handle, %handle, 0, %grid;
  bra DONE;
MULTI:
  ld.global.u32 %grids, [%handle+20];
  add.u64 %handle, %handle, 8;
  setp.ne.u32 %multi, %grids, 0;
  selp.b64 %handle, %handle, 0, %multi;
DONE:
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
  .reg .pred %multi, %other, %waiting; .reg .b64 %handle, %bits, %all;
  .reg .b32 %flags, %result, %x, %y, %z, %rank, %arrival, %before, %now;
  ld.param.b64 %handle, [handle];
  ld.param.b32 %flags, [flags];
  and.b64 %bits, %handle, 8;
  setp.ne.u64 %multi, %bits, 0;
  sub.u64 %handle, %handle, %bits;
  {
    .param .b64 h; .param .b32 f; .param .b32 r;
    st.param.b64 [h], %handle;
    st.param.b32 [f], %flags;
    call.uni (r), cudaCGSynchronizeGrid, (h, f);
    ld.param.b32 %result, [r];
  }
  @!%multi bra DONE;
  mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z;
  or.b32 %x, %x, %y; or.b32 %x, %x, %z;
  mov.u32 %y, %ctaid.x; mov.u32 %z, %ctaid.y; or.b32 %x, %x, %y; or.b32 %x, %x, %z;
  mov.u32 %z, %ctaid.z; or.b32 %x, %x, %z;
  setp.ne.u32 %other, %x, 0;
  @%other bra MET;
  ld.global.u64 %all, [%handle+8];
  ld.global.u32 %rank, [%handle+16];
  ld.global.u32 %arrival, [%handle+20];
  sub.u32 %arrival, 0x80000001, %arrival;
  setp.eq.u32 %waiting, %rank, 0;
  selp.b32 %arrival, %arrival, 1, %waiting;
  fence.sc.sys;
  atom.global.sys.add.u32 %before, [%all], %arrival;
WAIT:
  ld.volatile.global.u32 %now, [%all];
  xor.b32 %now, %now, %before;
  setp.ge.s32 %waiting, %now, 0;
  @%waiting bra WAIT;
  fence.sc.sys;
MET:
  {
    .param .b64 h; .param .b32 f; .param .b32 r;
    st.param.b64 [h], %handle;
    st.param.b32 [f], %flags;
    call.uni (r), cudaCGSynchronizeGrid, (h, f);
    ld.param.b32 %result, [r];
  }
DONE:
  st.param.b32 [result], %result;
  ret;
}

.visible .func (.param .b32 result) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle)
{
  .reg .pred %none; .reg .b64 %to, %handle; .reg .b32 %n, %m, %grids;
  ld.param.b64 %handle, [handle];
  mov.u32 %grids, 1;
  and.b64 %to, %handle, 8;
  setp.eq.u64 %none, %to, 0;
  @!%none ld.global.u32 %grids, [%handle+12];
  ld.param.b64 %to, [grids];
  setp.eq.u64 %none, %to, 0;
  @!%none st.u32 [%to], %grids;
  ld.param.b64 %to, [threads];
  setp.eq.u64 %none, %to, 0;
  mov.u32 %n, %nctaid.x; mul.lo.u32 %grids, %grids, %n;
  mov.u32 %n, %nctaid.y; mul.lo.u32 %grids, %grids, %n;
  mov.u32 %n, %nctaid.z; mul.lo.u32 %grids, %grids, %n;
  mov.u32 %n, %ntid.x; mul.lo.u32 %grids, %grids, %n;
  mov.u32 %n, %ntid.y; mul.lo.u32 %grids, %grids, %n;
  mov.u32 %n, %ntid.z; mul.lo.u32 %grids, %grids, %n;
  @!%none st.u32 [%to], %grids;
  st.param.b32 [result], 0;
  ret;
}

.visible .func (.param .b32 result) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle)
{
  .reg .pred %none; .reg .b64 %to, %handle; .reg .b32 %n, %i, %rank;
  ld.param.b64 %handle, [handle];
  mov.u32 %rank, 0;
  and.b64 %to, %handle, 8;
  setp.eq.u64 %none, %to, 0;
  @!%none ld.global.u32 %rank, [%handle+8];
  ld.param.b64 %to, [grid];
  setp.eq.u64 %none, %to, 0;
  @!%none st.u32 [%to], %rank;
  ld.param.b64 %to, [thread];
  setp.eq.u64 %none, %to, 0;
  mov.u32 %n, %nctaid.z; mov.u32 %i, %ctaid.z; mad.lo.u32 %rank, %rank, %n, %i;
  mov.u32 %n, %nctaid.y; mov.u32 %i, %ctaid.y; mad.lo.u32 %rank, %rank, %n, %i;
  mov.u32 %n, %nctaid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %rank, %rank, %n, %i;
  mov.u32 %n, %ntid.z; mov.u32 %i, %tid.z; mad.lo.u32 %rank, %rank, %n, %i;
  mov.u32 %n, %ntid.y; mov.u32 %i, %tid.y; mad.lo.u32 %rank, %rank, %n, %i;
  mov.u32 %n, %ntid.x; mov.u32 %i, %tid.x; mad.lo.u32 %rank, %rank, %n, %i;
  @!%none st.u32 [%to], %rank;
  st.param.b32 [result], 0;
  ret;
}
)";

constexpr std::string_view functions[] = {"cudaCGGetIntrinsicHandle", "cudaCGSynchronizeGrid",
                                          "cudaCGSynchronize", "cudaCGGetSize", "cudaCGGetRank"};

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
