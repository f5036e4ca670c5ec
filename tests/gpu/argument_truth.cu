// flags: -rdc=true -lcudadevrt -lcuda
// Prints what a GPU's driver answers to arguments whose sums wrap or that lie past every limit:
// copies, fills, addresses, graphs, counts, textures with a hole behind them, and calls by kernels.
// One line per question. Each runs in a process of its own, because some of them may end it.
//
// nvcc -std=c++17 -arch=sm_90 -rdc=true argument_truth.cu -lcudadevrt -lcuda -o argument_truth
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr size_t half = size_t{1} << 63, page = 2 << 20;

const char* question = "";

// One answer: QUESTION.ID CODE.
#define SAY(id, call) std::printf("%s.%s %d\n", question, id, int(call))
#define NEED(call)                                           \
  do {                                                       \
    if (const int e = int(call); e != 0) {                   \
      std::printf("%s.line_%d %d\n", question, __LINE__, e); \
      return;                                                \
    }                                                        \
  } while (false)

CUdeviceptr allocated(size_t bytes) {
  CUdeviceptr p = 0;
  cuMemAlloc(&p, bytes);
  return p;
}

void fills() {
  const CUdeviceptr p = allocated(1 << 20);
  SAY("rows_2_63_apart", cuMemsetD2D8(p, half, 1, 16, 3));
  SAY("rows_apart_by_minus_a_page", cuMemsetD2D8(p, ~size_t{0} - 4095, 1, 16, 2));
  SAY("wide_rows_2_63_apart", cuMemsetD2D32(p, half, 1, 16, 3));
  SAY("elements_past_2_64_bytes", cuMemsetD32(p, 1, (size_t{1} << 62) + 1));
  SAY("halves_past_2_64_bytes", cuMemsetD16(p, 1, half + 1));
  SAY("all_bytes", cuMemsetD8(p, 1, ~size_t{0}));
  SAY("one_byte_too_many", cuMemsetD8(p, 1, (1 << 20) + 1));
  SAY("memory_after_that", cudaMemset(reinterpret_cast<void*>(p), 1, 16));
}

void fills_of_boxes() {
  const CUdeviceptr p = allocated(1 << 20);
  cudaPitchedPtr to = make_cudaPitchedPtr(reinterpret_cast<void*>(p), 4096, 16, ~size_t{0});
  SAY("slices_back_by_rows", cudaMemset3D(to, 1, make_cudaExtent(16, 2, 2)));
  to.ysize = 4;
  to.pitch = half;
  SAY("rows_2_63_apart", cudaMemset3D(to, 1, make_cudaExtent(16, 3, 1)));
  to.pitch = 4096;
  SAY("2_52_slices", cudaMemset3D(to, 1, make_cudaExtent(16, 4, size_t{1} << 52)));
  SAY("within", cudaMemset3D(to, 1, make_cudaExtent(16, 4, 1)));
}

void copies_of_rows() {
  const CUdeviceptr p = allocated(1 << 20), q = allocated(1 << 20);
  auto *to = reinterpret_cast<void*>(p), *from = reinterpret_cast<void*>(q);
  SAY("to_rows_2_63_apart", cudaMemcpy2D(to, half, from, 4096, 16, 3, cudaMemcpyDeviceToDevice));
  SAY("from_rows_2_63_apart", cudaMemcpy2D(to, 4096, from, half, 16, 3, cudaMemcpyDeviceToDevice));
  SAY("2_52_rows",
      cudaMemcpy2D(to, 4096, from, 4096, 16, size_t{1} << 52, cudaMemcpyDeviceToDevice));
  SAY("all_bytes", cudaMemcpy(to, from, ~size_t{0}, cudaMemcpyDeviceToDevice));
  SAY("one_byte_too_many", cuMemcpyDtoD(p, q, (1 << 20) + 1));
}

void copies_of_boxes() {
  const CUdeviceptr p = allocated(1 << 20), q = allocated(1 << 20);
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = q, box.dstDevice = p;
  box.srcPitch = box.dstPitch = 4096;
  box.srcHeight = box.dstHeight = 4;
  box.WidthInBytes = 16, box.Height = 2, box.Depth = 2;
  SAY("within", cuMemcpy3D(&box));
  box.srcHeight = ~size_t{0};
  SAY("from_slices_back_by_rows", cuMemcpy3D(&box));
  box.srcHeight = 4, box.dstHeight = ~size_t{0};
  SAY("to_slices_back_by_rows", cuMemcpy3D(&box));
  box.dstHeight = 4, box.dstZ = size_t{1} << 50;
  SAY("to_slice_2_50", cuMemcpy3D(&box));
  box.dstZ = 0, box.dstY = size_t{1} << 52;
  SAY("to_row_2_52", cuMemcpy3D(&box));
  box.dstY = 0, box.srcXInBytes = ~size_t{0};
  SAY("from_byte_minus_1", cuMemcpy3D(&box));
}

void nodes_that_fill() {
  CUcontext context = nullptr;
  NEED(cuCtxGetCurrent(&context));
  const CUdeviceptr p = allocated(1 << 20);
  CUgraph graph = nullptr;
  NEED(cuGraphCreate(&graph, 0));
  CUgraphNode node = nullptr;
  CUDA_MEMSET_NODE_PARAMS fill{p, half, 1, 1, 16, 3};
  SAY("rows_2_63_apart", cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context));
  fill = {p, 4096, 1, 4, (size_t{1} << 62) + 1, 1};
  SAY("elements_past_2_64_bytes", cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context));
  fill = {p, 4096, 1, 1, 16, size_t{1} << 52};
  SAY("2_52_rows", cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context));
}

void reservations() {
  CUdeviceptr at = 0;
  SAY("end_past_2_64_aligned",
      cuMemAddressReserve(&at, 0 - (size_t{1} << 38) + page, size_t{1} << 38, 0, 0));
  SAY("end_past_2_64", cuMemAddressReserve(&at, 0 - page, 0, 0, 0));
  SAY("aligned_to_three_pages", cuMemAddressReserve(&at, page, 3 * page, 0, 0));
  SAY("aligned_to_2_63", cuMemAddressReserve(&at, page, half, 0, 0));
  SAY("part_of_a_page", cuMemAddressReserve(&at, page + 1, 0, 0, 0));
  SAY("nothing", cuMemAddressReserve(&at, 0, 0, 0, 0));
}

// Two pages, each of its own memory, with a page between them that is not mapped.
struct Holed {
  CUdeviceptr at = 0;
  CUmemAllocationProp properties{};
  CUmemGenericAllocationHandle handle = 0;
  bool made = false;
  Holed() {
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (cuMemAddressReserve(&at, 3 * page, 0, 0, 0)) return;
    for (const size_t offset : {size_t{0}, 2 * page}) {
      if (cuMemCreate(&handle, page, &properties, 0)) return;
      if (cuMemMap(at + offset, page, 0, handle, 0)) return;
      if (cuMemSetAccess(at + offset, page, &access, 1)) return;
    }
    made = true;
  }
};

void mappings() {
  const Holed memory;
  NEED(!memory.made);
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  SAY("map_past_2_64", cuMemMap(memory.at + page, 0 - page, 0, memory.handle, 0));
  SAY("map_behind_the_memory", cuMemMap(memory.at + page, page, page, memory.handle, 0));
  SAY("access_past_2_64", cuMemSetAccess(memory.at, 0 - page, &access, 1));
  SAY("access_over_a_hole", cuMemSetAccess(memory.at, 3 * page, &access, 1));
  SAY("unmap_to_2_64", cuMemUnmap(memory.at, 0 - memory.at));
  SAY("unmap_past_2_64", cuMemUnmap(memory.at, 0 - page));
  SAY("free_past_2_64", cuMemAddressFree(memory.at, 0 - page));
  SAY("fill_over_a_hole", cuMemsetD8(memory.at, 1, 3 * page));
  SAY("fill_of_a_page", cuMemsetD8(memory.at, 1, page));
}

void mappings_of_parts() {
  CUdeviceptr at = 0;
  NEED(cuMemAddressReserve(&at, 6 * page, 0, 0, 0));
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle two = 0;
  NEED(cuMemCreate(&two, 2 * page, &properties, 0));
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  SAY("first_part", cuMemMap(at, page, 0, two, 0));
  SAY("second_part", cuMemMap(at + page, page, page, two, 0));
  SAY("more_than_all", cuMemMap(at + 2 * page, 3 * page, 0, two, 0));
  SAY("all", cuMemMap(at + 2 * page, 2 * page, 0, two, 0));
  SAY("over_another", cuMemMap(at + 3 * page, 2 * page, 0, two, 0));
  SAY("past_what_is_reserved", cuMemMap(at + 5 * page, 2 * page, 0, two, 0));
  SAY("access_to_a_part", cuMemSetAccess(at + 3 * page, page, &access, 1));
  SAY("access_that_begins_in_a_hole", cuMemSetAccess(at + page, 3 * page, &access, 1));
  SAY("access_that_ends_in_a_hole", cuMemSetAccess(at + 2 * page, 3 * page, &access, 1));
  SAY("access_to_a_hole", cuMemSetAccess(at + 4 * page, page, &access, 1));
  SAY("access_past_what_is_reserved", cuMemSetAccess(at + 2 * page, 5 * page, &access, 1));
  SAY("fill_of_all", cuMemsetD8(at + 2 * page, 1, 2 * page));
  SAY("unmap_a_part", cuMemUnmap(at + 3 * page, page));
  SAY("unmap_a_hole", cuMemUnmap(at + 4 * page, page));
  SAY("unmap_past_what_is_reserved", cuMemUnmap(at + 2 * page, 5 * page));
  SAY("free_what_is_mapped", cuMemAddressFree(at, 6 * page));
}

// Textures: what a kernel reads of one whose memory has a hole, or ends too early.
__global__ void fetch(cudaTextureObject_t texture, int at, float* result) {
  *result = tex1Dfetch<float>(texture, at);
}

void textures() {
  const Holed memory;
  NEED(!memory.made);
  cudaResourceDesc what{};
  what.resType = cudaResourceTypeLinear;
  what.res.linear.devPtr = reinterpret_cast<void*>(memory.at);
  what.res.linear.desc = cudaCreateChannelDesc<float>();
  what.res.linear.sizeInBytes = 3 * page;
  cudaTextureDesc how{};
  cudaTextureObject_t texture = 0;
  SAY("made_over_a_hole", cudaCreateTextureObject(&texture, &what, &how, nullptr));
  float* result = nullptr;
  NEED(cudaMalloc(&result, 4));
  fetch<<<1, 1>>>(texture, 0, result);
  SAY("read_before_the_hole", cudaDeviceSynchronize());
  fetch<<<1, 1>>>(texture, 2 * page / 4, result);
  SAY("read_behind_the_hole", cudaDeviceSynchronize());
  fetch<<<1, 1>>>(texture, page / 4, result);
  SAY("read_in_the_hole", cudaDeviceSynchronize());
}

void texture_sizes() {
  const CUdeviceptr p = allocated(1 << 20);
  cudaResourceDesc what{};
  what.resType = cudaResourceTypeLinear;
  what.res.linear.devPtr = reinterpret_cast<void*>(p);
  what.res.linear.desc = cudaCreateChannelDesc<float>();
  cudaTextureDesc how{};
  cudaTextureObject_t texture = 0;
  for (const size_t bytes :
       {size_t{1} << 20, size_t{1} << 21, size_t{1} << 29, size_t{1} << 40, half, ~size_t{0}}) {
    what.res.linear.sizeInBytes = bytes;
    char id[32];
    std::snprintf(id, sizeof id, "%zx_bytes", bytes);
    SAY(id, cudaCreateTextureObject(&texture, &what, &how, nullptr));
  }
  what.resType = cudaResourceTypePitch2D;
  what.res.pitch2D = {reinterpret_cast<void*>(p), cudaCreateChannelDesc<float>(), 64, 64, 4096};
  SAY("rows", cudaCreateTextureObject(&texture, &what, &how, nullptr));
  what.res.pitch2D.height = 1024;
  SAY("rows_past_the_end", cudaCreateTextureObject(&texture, &what, &how, nullptr));
  what.res.pitch2D.height = 64;
  what.res.pitch2D.pitchInBytes = half;
  SAY("rows_2_63_apart", cudaCreateTextureObject(&texture, &what, &how, nullptr));
}

void conditional_bodies() {
  CUcontext context = nullptr;
  NEED(cuCtxGetCurrent(&context));
  for (const unsigned bodies : {0u, 2u, 1024u, 65536u, 1u << 20, ~0u}) {
    CUgraph graph = nullptr;
    NEED(cuGraphCreate(&graph, 0));
    CUgraphConditionalHandle handle = 0;
    NEED(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
    CUgraphNodeParams node{};
    node.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    node.conditional.handle = handle;
    node.conditional.type = CU_GRAPH_COND_TYPE_SWITCH;
    node.conditional.size = bodies;
    node.conditional.ctx = context;
    CUgraphNode made = nullptr;
    char id[32];
    std::snprintf(id, sizeof id, "%u", bodies);
    SAY(id, cuGraphAddNode(&made, graph, nullptr, nullptr, 0, &node));
    std::fflush(stdout);
  }
}

void destroy_nothing(void*) {}

void user_objects() {
  CUuserObject object = nullptr;
  SAY("made_with_0",
      cuUserObjectCreate(&object, nullptr, destroy_nothing, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  SAY("made_with_2_32_less_1", cuUserObjectCreate(&object, nullptr, destroy_nothing, ~0u,
                                                  CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  SAY("made_with_2_31", cuUserObjectCreate(&object, nullptr, destroy_nothing, 0x80000000u,
                                           CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  SAY("made_with_2_31_less_1", cuUserObjectCreate(&object, nullptr, destroy_nothing, 0x7fffffff,
                                                  CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  SAY("one_more", cuUserObjectRetain(object, 1));
  SAY("2_31_less_1_more", cuUserObjectRetain(object, 0x7fffffff));
  SAY("2_31_more", cuUserObjectRetain(object, 0x80000000u));
  SAY("2_32_less_1_more", cuUserObjectRetain(object, ~0u));
  SAY("none_more", cuUserObjectRetain(object, 0));
  SAY("none_less", cuUserObjectRelease(object, 0));
  SAY("2_32_less_1_less", cuUserObjectRelease(object, ~0u));
  CUgraph graph = nullptr;
  NEED(cuGraphCreate(&graph, 0));
  SAY("graph_retains_2_32_less_1", cuGraphRetainUserObject(graph, object, ~0u, 0));
  SAY("graph_retains_none", cuGraphRetainUserObject(graph, object, 0, 0));
}

void captured_nodes() {
  CUstream stream = nullptr;
  NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const CUdeviceptr p = allocated(4096);
  NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  NEED(cuMemsetD8Async(p, 1, 16, stream));
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* in_front = nullptr;
  size_t count = 0;
  NEED(cuStreamGetCaptureInfo(stream, &status, &id, &graph, &in_front, nullptr, &count));
  std::printf("%s.in_front %zu\n", question, count);
  if (count != 1) return;
  SAY("destroyed", cuGraphDestroyNode(in_front[0]));
  SAY("work_after_that", cuMemsetD8Async(p, 1, 16, stream));
  CUgraph captured = nullptr;
  SAY("end", cuStreamEndCapture(stream, &captured));
  size_t nodes = 0;
  if (captured && cuGraphGetNodes(captured, nullptr, &nodes) == 0)
    std::printf("%s.nodes %zu\n", question, nodes);
}

void registered_memory() {
  cudaFree(nullptr);
  char* const memory = static_cast<char*>(
      mmap(nullptr, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(memory + (1 << 20), 3 << 20);
  SAY("past_2_64", cuMemHostRegister(memory, 0 - size_t{4096}, 0));
  SAY("2_63_bytes", cuMemHostRegister(memory, half, 0));
  SAY("nothing", cuMemHostRegister(memory, 0, 0));
  SAY("more_than_is_mapped", cuMemHostRegister(memory, 2 << 20, 0));
  SAY("again", cuMemHostRegister(memory, 1 << 20, 0));
  SAY("part_of_it", cuMemHostRegister(memory + 4096, 4096, 0));
}

void managed_ranges() {
  CUdeviceptr p = 0;
  NEED(cuMemAllocManaged(&p, 1 << 20, CU_MEM_ATTACH_GLOBAL));
  const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  SAY("prefetch_past_2_64", cuMemPrefetchAsync(p, ~size_t{0}, here, 0, nullptr));
  SAY("prefetch_to_2_64", cuMemPrefetchAsync(p, 0 - p, here, 0, nullptr));
  SAY("advise_past_2_64", cuMemAdvise(p, ~size_t{0}, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
  SAY("advise_nothing", cuMemAdvise(p, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
  int value = 0;
  SAY("attribute_past_2_64",
      cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, ~size_t{0}));
}

void allocations() {
  CUdeviceptr p = 0;
  size_t pitch = 0;
  void* host = nullptr;
  cudaFree(nullptr);
  SAY("device", cuMemAlloc(&p, ~size_t{0}));
  SAY("row_too_wide", cuMemAllocPitch(&p, &pitch, ~size_t{0}, 2, 4));
  SAY("too_many_rows", cuMemAllocPitch(&p, &pitch, 1 << 20, half, 4));
  SAY("managed", cuMemAllocManaged(&p, ~size_t{0}, CU_MEM_ATTACH_GLOBAL));
  SAY("host", cuMemHostAlloc(&host, ~size_t{0}, 0));
  SAY("ordered", cuMemAllocAsync(&p, ~size_t{0}, nullptr));
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc texel = cudaCreateChannelDesc<float>();
  SAY("array_too_wide", cudaMalloc3DArray(&array, &texel, make_cudaExtent(half, 2, 2)));
  SAY("array_too_large", cudaMalloc3DArray(&array, &texel, make_cudaExtent(16384, 16384, 16384)));
}

// Calls by kernels, whose results the thread notes.
struct Notes {
  int values[16];
  unsigned long long counts[4];
};

__device__ int fill_box(char* at, size_t rows_of_a_slice, size_t slices) {
  cudaPitchedPtr to;
  to.ptr = at, to.pitch = 4096, to.xsize = 16, to.ysize = rows_of_a_slice;
  cudaExtent extent;
  extent.width = 16, extent.height = 2, extent.depth = slices;
  return cudaMemset3DAsync(to, 1, extent, 0);
}

__global__ void transfer_on_device(int which, char* at, char* from, Notes* notes) {
  int& result = notes->values[0];
  constexpr auto here = cudaMemcpyDeviceToDevice;
  switch (which) {
    case 0:
      result = cudaMemset2DAsync(at, half, 1, 16, 3, 0);
      break;
    case 1:
      result = cudaMemset2DAsync(at, 0 - size_t{4096}, 1, 16, 2, 0);
      break;
    case 2:
      result = cudaMemsetAsync(at, 1, ~size_t{0}, 0);
      break;
    case 3:
      result = fill_box(at, ~size_t{0}, 2);
      break;
    case 4:
      result = cudaMemcpy2DAsync(at, half, from, 4096, 16, 3, here, 0);
      break;
    case 5:
      result = cudaMemcpy2DAsync(at, 4096, from, half, 16, 3, here, 0);
      break;
    case 6:
      result = cudaMemcpyAsync(at, from, ~size_t{0}, here, 0);
      break;
    case 7:
      result = cudaMemcpyAsync(at, from, 32, here, 0);
      break;
  }
}

__global__ void count_on_device(Notes* notes, unsigned long long most) {
  unsigned long long made = 0;
  cudaStream_t stream;
  int error = 0;
  while (made < most && !(error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)))
    ++made;
  notes->counts[0] = made, notes->values[0] = error;
  cudaEvent_t event;
  for (made = 0;
       made < most && !(error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming));)
    ++made;
  notes->counts[1] = made, notes->values[1] = error;
}

__global__ void count_buffers(Notes* notes, unsigned long long most) {
  unsigned long long made = 0;
  while (made < most && cudaGetParameterBuffer(8, 64)) ++made;
  notes->counts[0] = made, notes->values[0] = cudaGetLastError();
}

template <class Launch>
void by_kernel(int values, int counts, Launch launch) {
  Notes* notes = nullptr;
  NEED(cudaMalloc(&notes, sizeof(Notes)));
  NEED(cudaMemset(notes, 0, sizeof(Notes)));
  launch(notes);
  SAY("launch", cudaGetLastError());
  SAY("end", cudaDeviceSynchronize());
  Notes host{};
  if (cudaMemcpy(&host, notes, sizeof host, cudaMemcpyDeviceToHost)) return;
  for (int i = 0; i < values; ++i) std::printf("%s.result_%d %d\n", question, i, host.values[i]);
  for (int i = 0; i < counts; ++i) std::printf("%s.count_%d %llu\n", question, i, host.counts[i]);
}

// Each ends the context if it fails.
template <int which>
void kernel_transfers() {
  char *const at = reinterpret_cast<char*>(allocated(1 << 20)), *const from =
                                                                    reinterpret_cast<char*>(
                                                                        allocated(1 << 20));
  by_kernel(1, 0, [&](Notes* notes) { transfer_on_device<<<1, 1>>>(which, at, from, notes); });
}
void kernels_make_streams() {
  by_kernel(2, 2, [&](Notes* notes) { count_on_device<<<1, 1>>>(notes, 1 << 16); });
}
void kernels_take_buffers() {
  by_kernel(1, 1, [&](Notes* notes) { count_buffers<<<1, 1>>>(notes, 1 << 16); });
}

const struct {
  const char* name;
  void (*ask)();
} questions[] = {
    {"fills", fills},
    {"fills_of_boxes", fills_of_boxes},
    {"copies_of_rows", copies_of_rows},
    {"copies_of_boxes", copies_of_boxes},
    {"nodes_that_fill", nodes_that_fill},
    {"reservations", reservations},
    {"mappings", mappings},
    {"mappings_of_parts", mappings_of_parts},
    {"textures", textures},
    {"texture_sizes", texture_sizes},
    {"conditional_bodies", conditional_bodies},
    {"user_objects", user_objects},
    {"captured_nodes", captured_nodes},
    {"registered_memory", registered_memory},
    {"managed_ranges", managed_ranges},
    {"allocations", allocations},
    {"kernel_fills_rows_2_63_apart", kernel_transfers<0>},
    {"kernel_fills_rows_apart_by_minus_a_page", kernel_transfers<1>},
    {"kernel_fills_all_bytes", kernel_transfers<2>},
    {"kernel_fills_slices_back_by_rows", kernel_transfers<3>},
    {"kernel_copies_to_rows_2_63_apart", kernel_transfers<4>},
    {"kernel_copies_from_rows_2_63_apart", kernel_transfers<5>},
    {"kernel_copies_all_bytes", kernel_transfers<6>},
    {"kernel_copies_within", kernel_transfers<7>},
    {"kernels_make_streams", kernels_make_streams},
    {"kernels_take_buffers", kernels_take_buffers},
};

}  // namespace

int main(int, char**) {
  for (const auto& each : questions) {
    question = each.name;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      cudaSetDevice(0);
      alarm(10);
      each.ask();
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) std::printf("%s.signal %d\n", question, WTERMSIG(status));
    std::fflush(stdout);
  }
}
