// Reports calls that are not supported.
#include "gpu/cuda/exports/stub.hpp"

#include <fmt/format.h>

#include <string_view>

#include "gpu/cuda/core/base/guard.hpp"

namespace inflight::cuda {
namespace {

struct Advice {
  std::string_view part;  // of the call's name
  std::string_view text;
};

// The first row whose `part` occurs in the name applies.
constexpr Advice advice[] = {
    {"TexRef", "CUDA 12 removed texture references; use texture objects"},
    {"SurfRef", "CUDA 12 removed surface references; use surface objects"},
    {"Array", "sparse arrays and planes of arrays are not supported"},
    {"Graphics", "graphics interoperation needs a GPU"},
    {"GL", "graphics interoperation needs a GPU"},
    {"EGL", "graphics interoperation needs a GPU"},
    {"VDPAU", "graphics interoperation needs a GPU"},
    {"External", "memory and semaphores of other APIs need a GPU"},
    {"HandleForAddressRange",
     "other devices' drivers cannot reach a software GPU's memory (dma-buf); send data through the "
     "host (NCCL_NET_GDR_LEVEL=LOC)"},
    {"Coredump", "core dumps are not supported; a fault is reported on standard error"},
    {"Checkpoint", "checkpoints are not supported"},
    {"ExportTable", "it is an undocumented interface for NVIDIA's own libraries"},
};

std::string_view advice_for(std::string_view name) {
  for (const Advice& a : advice) {
    if (name.find(a.part) != name.npos) return a.text;
  }
  return "use another call, or run this part on a GPU";
}

}  // namespace

int refuse_call(const char* name) {
  return int(guarded(name, [&] {
    report_once(
        name, fmt::format(
                  "{} is not supported by the software GPU and returns \"not supported\" (801): {}",
                  name, advice_for(name)));
    return Status::not_supported;
  }));
}

}  // namespace inflight::cuda
