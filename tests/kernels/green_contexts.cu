// flags: -lcuda
// Green contexts: parts of a device's multiprocessors, their streams and events, and the limits of
// launches in them.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

namespace {

const char* name(CUresult r) {
  const char* text = "?";
  cuGetErrorName(r, &text);
  return text;
}
void check(CUresult r, int line) {
  if (r == CUDA_SUCCESS) return;
  std::printf("line %d: %s\n", line, name(r));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

__global__ void marks(unsigned* seen) {
  unsigned id;
  asm("mov.u32 %0, %%smid;" : "=r"(id));
  atomicOr(&seen[id / 32], 1u << id % 32);
  const long long start = clock64();
  while (clock64() - start < 500) {
  }
}
__global__ void nothing() {}
__global__ void sets(unsigned* to, unsigned value) { *to = value; }
__global__ void adds(unsigned* to, const unsigned* from) { *to += *from; }

CUdevResource whole_device() {
  CUdevResource all{};
  CHECK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
  return all;
}

void splits() {
  const CUdevResource all = whole_device();
  std::printf("device: %u multiprocessors, at least %u, in steps of %u\n", all.sm.smCount,
              all.sm.minSmPartitionSize, all.sm.smCoscheduledAlignment);
  for (const unsigned flags : {0u, 1u, 2u})
    for (const unsigned least : {0u, 8u, 9u, 17u, 64u, 67u, 130u, 132u}) {
      unsigned groups = 0, made = 200;
      CHECK(cuDevSmResourceSplitByCount(nullptr, &groups, &all, nullptr, flags, least));
      std::vector<CUdevResource> parts(made);
      CUdevResource rest{};
      CHECK(cuDevSmResourceSplitByCount(parts.data(), &made, &all, &rest, flags, least));
      std::printf("flags %u, %u: %u groups, %u of %u, rest %u\n", flags, least, groups, made,
                  parts[0].sm.smCount, rest.type == CU_DEV_RESOURCE_TYPE_SM ? rest.sm.smCount : 0);
    }
  unsigned groups = 1;
  CUdevResource part;
  std::printf("too many: %s\n",
              name(cuDevSmResourceSplitByCount(&part, &groups, &all, nullptr, 0, 133)));
  std::printf("both flags: %s\n",
              name(cuDevSmResourceSplitByCount(&part, &groups, &all, nullptr, 3, 8)));
  std::printf("no such type: %s, no device: %s\n",
              name(cuDeviceGetDevResource(0, &part, CU_DEV_RESOURCE_TYPE_INVALID)),
              name(cuDeviceGetDevResource(99, &part, CU_DEV_RESOURCE_TYPE_SM)));
}

struct Green {
  CUgreenCtx green;
  CUcontext context;
  CUstream stream;
  explicit Green(CUdevResource part) {
    CUdevResourceDesc description;
    CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
    CHECK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    CHECK(cuCtxFromGreenCtx(&context, green));
    CHECK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  }
  ~Green() {
    CHECK(cuStreamDestroy(stream));
    CHECK(cuGreenCtxDestroy(green));
  }
};

// The multiprocessors that many blocks run on.
std::vector<bool> used_by(CUstream stream) {
  unsigned* seen;
  cudaMallocManaged(&seen, 32);
  for (int i = 0; i < 8; ++i) seen[i] = 0;
  marks<<<1000, 64, 0, stream>>>(seen);
  CHECK(cuStreamSynchronize(stream));
  std::vector<bool> used(256);
  for (unsigned i = 0; i < used.size(); ++i) used[i] = seen[i / 32] >> i % 32 & 1;
  cudaFree(seen);
  return used;
}
unsigned count(const std::vector<bool>& used) {
  unsigned n = 0;
  for (const bool each : used) n += each;
  return n;
}
bool apart(const std::vector<bool>& a, const std::vector<bool>& b) {
  for (unsigned i = 0; i < a.size(); ++i)
    if (a[i] && b[i]) return false;
  return true;
}

cudaError_t cooperative(unsigned blocks, CUstream stream) {
  const cudaError_t code = cudaLaunchCooperativeKernel(
      reinterpret_cast<void*>(nothing), dim3(blocks), dim3(1024), nullptr, 0, stream);
  cudaGetLastError();
  return code;
}

void parts() {
  const CUdevResource all = whole_device();
  CUdevResource two[2], rest;
  unsigned groups = 2;
  CHECK(cuDevSmResourceSplitByCount(two, &groups, &all, &rest, 0, 16));
  Green first(two[0]), second(two[1]);
  CUdevResource its{};
  CHECK(cuGreenCtxGetDevResource(first.green, &its, CU_DEV_RESOURCE_TYPE_SM));
  std::printf("part: %u, rest %u\n", its.sm.smCount, rest.sm.smCount);
  CHECK(cuCtxGetDevResource(first.context, &its, CU_DEV_RESOURCE_TYPE_SM));
  std::printf("its context: %u\n", its.sm.smCount);

  const auto a = used_by(first.stream), b = used_by(second.stream);
  std::printf("used: %u and %u, apart: %d\n", count(a), count(b), apart(a, b));
  int blocks;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1024, 0);
  std::printf("cooperative: %s, one more: %s, elsewhere: %s\n",
              cudaGetErrorName(cooperative(16 * blocks, first.stream)),
              cudaGetErrorName(cooperative(16 * blocks + 1, first.stream)),
              cudaGetErrorName(cooperative(16 * blocks + 1, nullptr)));
  CHECK(cuCtxSynchronize());

  // A graph's kernels run in the context where they were captured.
  unsigned* seen;
  cudaMallocManaged(&seen, 32);
  for (int i = 0; i < 8; ++i) seen[i] = 0;
  CUgraph graph;
  CUgraphExec exec;
  CHECK(cuStreamBeginCapture(first.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  marks<<<1000, 64, 0, first.stream>>>(seen);
  CHECK(cuStreamEndCapture(first.stream, &graph));
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  CHECK(cuGraphLaunch(exec, second.stream));
  CHECK(cuStreamSynchronize(second.stream));
  unsigned used = 0;
  for (int i = 0; i < 8; ++i) used += __builtin_popcount(seen[i]);
  std::printf("in a graph: %u\n", used);
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(graph));
  cudaFree(seen);

  // Both parts together.
  CUdevResourceDesc description;
  CUgreenCtx both;
  CHECK(cuDevResourceGenerateDesc(&description, two, 2));
  CHECK(cuGreenCtxCreate(&both, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  CHECK(cuGreenCtxGetDevResource(both, &its, CU_DEV_RESOURCE_TYPE_SM));
  std::printf("both: %u\n", its.sm.smCount);
  CHECK(cuGreenCtxDestroy(both));
}

void current() {
  CUdevResource part, all = whole_device();
  unsigned groups = 1;
  CHECK(cuDevSmResourceSplitByCount(&part, &groups, &all, nullptr, 0, 8));
  Green green(part);
  CUcontext primary, found;
  CUgreenCtx of;
  CHECK(cuCtxGetCurrent(&primary));
  CHECK(cuStreamGetGreenCtx(green.stream, &of));
  std::printf("its stream's: %d", of == green.green);
  CHECK(cuStreamGetCtx_v2(green.stream, &found, &of));
  std::printf(", with the primary one: %d %d", found == primary, of == green.green);
  CHECK(cuStreamGetGreenCtx(nullptr, &of));
  std::printf(", the null stream's: %d\n", of != nullptr);

  CHECK(cuCtxSetCurrent(green.context));
  CHECK(cuStreamGetGreenCtx(nullptr, &of));
  CUstream made;
  CHECK(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
  CUgreenCtx made_in;
  CHECK(cuStreamGetGreenCtx(made, &made_in));
  std::printf("current: the null stream's: %d, a new stream's: %d\n", of == green.green,
              made_in == green.green);
  std::printf("used: null stream %u, new stream %u\n", count(used_by(nullptr)),
              count(used_by(made)));
  CHECK(cuCtxSetCurrent(primary));
  std::printf("from elsewhere: %u, null stream there: more %d\n", count(used_by(made)),
              count(used_by(nullptr)) > 8);
  CHECK(cuStreamDestroy(made));
}

void events() {
  CUdevResource part, all = whole_device();
  unsigned groups = 1;
  CHECK(cuDevSmResourceSplitByCount(&part, &groups, &all, nullptr, 0, 8));
  Green green(part);
  unsigned* values;
  cudaMallocManaged(&values, 4 * sizeof *values);
  for (int i = 0; i < 4; ++i) values[i] = 0;
  CUstream other, later;
  CUevent event;
  CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  // The green context's writes are visible to another stream.
  nothing<<<64, 64, 0, green.stream>>>();
  sets<<<1, 1, 0, green.stream>>>(values, 5);
  CHECK(cuGreenCtxRecordEvent(green.green, event));
  CHECK(cuStreamWaitEvent(other, event, 0));
  adds<<<1, 1, 0, other>>>(values + 1, values);
  // The other stream's writes are visible to it too, also in streams that it creates later.
  CHECK(cuEventRecord(event, other));
  CHECK(cuGreenCtxWaitEvent(green.green, event));
  CHECK(cuGreenCtxStreamCreate(&later, green.green, CU_STREAM_NON_BLOCKING, 0));
  adds<<<1, 1, 0, green.stream>>>(values + 2, values + 1);
  adds<<<1, 1, 0, later>>>(values + 3, values + 1);
  CHECK(cuCtxSynchronize());
  std::printf("events: %u %u %u %u\n", values[0], values[1], values[2], values[3]);
  CHECK(cuStreamDestroy(later));
  CHECK(cuStreamDestroy(other));
  CHECK(cuEventDestroy(event));
  cudaFree(values);
}

void refused() {
  CUdevResource part, all = whole_device();
  unsigned groups = 1;
  CHECK(cuDevSmResourceSplitByCount(&part, &groups, &all, nullptr, 0, 8));
  CUdevResourceDesc description;
  CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
  CUgreenCtx green;
  CUstream stream;
  std::printf("without its default stream: %s\n",
              name(cuGreenCtxCreate(&green, description, 0, 0)));
  CHECK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
  std::printf("a blocking stream: %s\n",
              name(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_DEFAULT, 0)));
  CHECK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  CHECK(cuGreenCtxDestroy(green));
  std::printf("its stream afterwards: %s\n", name(cuStreamSynchronize(stream)));
}

}  // namespace

int main() {
  cudaFree(nullptr);
  splits();
  parts();
  current();
  events();
  refused();
}
