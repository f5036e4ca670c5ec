// flags: -lcuda
// Memory pools of devices, of the host and of managed memory: defaults, refused calls, statistics,
// and batches of copies between them.
#include <cuda.h>

#include "tests/kernels/kernel_test.cuh"

__global__ void step(int* data, int count) {
  if (threadIdx.x < count) data[threadIdx.x] += 1;
}

void tell(const char* when, cudaMemPool_t pool) {
  unsigned long long used = 0, high = 0, reserved = 0, reserved_high = 0;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &reserved_high));
  std::printf("%s: used %llu of at most %llu, reserved %llu of at most %llu\n", when, used, high,
              reserved, reserved_high);
}

void try_pool(cudaMemAllocationType type, cudaMemLocationType place, int id, std::size_t most,
              cudaMemAllocationHandleType handles) {
  cudaMemPoolProps props{};
  props.allocType = type;
  props.location = {place, id};
  props.maxSize = most;
  props.handleTypes = handles;
  cudaMemPool_t pool = nullptr;
  const int code = cudaMemPoolCreate(&pool, &props);
  std::printf("create(type %d, place %d, id %d, most %zu, handles %d): %d\n", int(type), int(place),
              id, most, int(handles), code);
  cudaGetLastError();
  if (pool) CHECK(cudaMemPoolDestroy(pool));
}

void use(const char* name, cudaMemPool_t pool, cudaStream_t stream) {
  cudaMemAccessDesc all{{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
  cudaMemPoolSetAccess(pool, &all, 1);
  cudaGetLastError();
  int* data = nullptr;
  CHECK(cudaMallocFromPoolAsync(&data, 4096, pool, stream));
  CHECK(cudaMemsetAsync(data, 0, 4096, stream));
  step<<<1, 32, 0, stream>>>(data, 32);
  int value = -1;
  CHECK(cudaMemcpyAsync(&value, data + 31, 4, cudaMemcpyDefault, stream));
  CHECK(cudaStreamSynchronize(stream));
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, data));
  std::printf("%s: %d, memory of type %d\n", name, value, int(attributes.type));
  CHECK(cudaFreeAsync(data, stream));
  CHECK(cudaStreamSynchronize(stream));
}

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

  // The statistics of a pool.
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &props));
  void *small, *large;
  tell("fresh", pool);
  CHECK(cudaMallocFromPoolAsync(&small, 100, pool, stream));
  CHECK(cudaStreamSynchronize(stream));
  tell("100 bytes", pool);
  CHECK(cudaMallocFromPoolAsync(&large, 40 << 20, pool, stream));
  CHECK(cudaStreamSynchronize(stream));
  tell("and 40 MB", pool);
  CHECK(cudaFreeAsync(large, stream));
  CHECK(cudaStreamSynchronize(stream));
  tell("freed", pool);
  unsigned long long keep = 1 << 20, none = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  CHECK(cudaFreeAsync(small, stream));
  CHECK(cudaStreamSynchronize(stream));
  tell("all freed, threshold of 1 MB", pool);
  CHECK(cudaMemPoolTrimTo(pool, 0));
  tell("trimmed", pool);
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &none));
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &none));
  tell("marks reset", pool);
  CHECK(cudaMemPoolDestroy(pool));

  // The existing pools.
  const auto device = cudaMemLocationTypeDevice, host = cudaMemLocationTypeHost,
             numa = cudaMemLocationTypeHostNuma, here = cudaMemLocationTypeHostNumaCurrent,
             nowhere = cudaMemLocationTypeNone;
  const auto pinned = cudaMemAllocationTypePinned, managed = cudaMemAllocationTypeManaged;
  const auto alone = cudaMemHandleTypeNone;
  try_pool(pinned, device, 0, 0, alone);
  try_pool(pinned, device, 99, 0, alone);
  try_pool(pinned, host, 0, 0, alone);
  try_pool(pinned, host, 0, 0, cudaMemHandleTypePosixFileDescriptor);
  try_pool(pinned, numa, 0, 0, alone);
  try_pool(pinned, here, 0, 0, alone);
  try_pool(pinned, nowhere, 0, 0, alone);
  try_pool(managed, nowhere, 0, 0, alone);
  try_pool(managed, device, 0, 0, alone);
  try_pool(managed, host, 0, 0, alone);
  try_pool(managed, nowhere, 0, 1 << 20, alone);
  try_pool(managed, nowhere, 0, 0, cudaMemHandleTypePosixFileDescriptor);
  try_pool(cudaMemAllocationType(0), device, 0, 0, alone);

  cudaMemLocation place{};
  cudaMemPool_t same;
  struct {
    const char* name;
    cudaMemLocationType place;
    cudaMemAllocationType type;
  } const defaults[] = {{"device, pinned", device, pinned},
                        {"host, pinned", host, pinned},
                        {"no place, managed", nowhere, managed},
                        {"device, managed", device, managed}};
  for (const auto& each : defaults) {
    place.type = each.place;
    CHECK(cudaMemGetDefaultMemPool(&pool, &place, each.type));
    CHECK(cudaMemGetMemPool(&same, &place, each.type));
    std::printf("%s is current: %d\n", each.name, pool == same);
    use(each.name, pool, stream);
  }
  place.type = nowhere;
  SAY(cudaMemGetDefaultMemPool(&pool, &place, cudaMemAllocationTypePinned));
  place.type = here;
  SAY(cudaMemGetDefaultMemPool(&pool, &place, cudaMemAllocationTypePinned));

  // Another pool becomes current only in its own location.
  props.location = {cudaMemLocationTypeHost, 0};
  CHECK(cudaMemPoolCreate(&pool, &props));
  place.type = host;
  SAY(cudaMemSetMemPool(&place, pinned, pool));
  CHECK(cudaMemGetMemPool(&same, &place, pinned));
  std::printf("current: %d\n", pool == same);
  place.type = device;
  SAY(cudaMemSetMemPool(&place, pinned, pool));
  SAY(cudaDeviceSetMemPool(0, pool));
  use("pool of the host", pool, stream);
  CHECK(cudaMemPoolDestroy(pool));

  // Batches.
  char *a, *b, bytes[64];
  CHECK(cudaMalloc(&a, 1024));
  CHECK(cudaMalloc(&b, 1024));
  CHECK(cudaMemset(b, 5, 512));
  CHECK(cudaMemset(b + 512, 6, 512));
  CHECK(cudaDeviceSynchronize());
  for (char& each : bytes) each = 7;
  void* to[] = {a, a + 512, a + 64};
  const void* from[] = {b, b + 512, bytes};
  const std::size_t sizes[] = {64, 512, 64};
  cudaMemcpyAttributes attributes[2]{};
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  std::size_t starts[] = {0, 2};
  SAY(cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, starts, 2, stream));
  for (char& each : bytes) each = 0;
  CHECK(cudaStreamSynchronize(stream));
  char got[1024];
  CHECK(cudaMemcpy(got, a, 1024, cudaMemcpyDefault));
  std::printf("%d %d %d %d\n", got[0], got[64], got[127], got[1023]);
  SAY(cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, starts, 2, nullptr));
  SAY(cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, starts, 0, stream));
  starts[0] = 1;
  SAY(cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, starts, 2, stream));
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  starts[0] = 0;
  SAY(cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, starts, 2, stream));
  cudaMemcpy3DBatchOp box{};
  box.src.type = box.dst.type = cudaMemcpyOperandTypePointer;
  box.src.op.ptr.ptr = b + 512;
  box.src.op.ptr.rowLength = 32;
  box.dst.op.ptr.ptr = a;
  box.extent = {16, 4, 2};
  box.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  SAY(cudaMemcpy3DBatchAsync(1, &box, 0, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(got, a, 1024, cudaMemcpyDefault));
  std::printf("%d %d %d\n", got[0], got[127], got[128]);
  box.extent.depth = 0;
  SAY(cudaMemcpy3DBatchAsync(1, &box, 0, stream));
}
