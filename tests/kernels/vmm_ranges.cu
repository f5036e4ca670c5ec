// flags: -lcuda
// The driver's results for adjacent mappings, and for unmapping more or less than was
// mapped.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

#define SAY(expr) printf("%s = %d\n", #expr, int(expr))
int main() {
  cudaFree(0);
  const size_t page = 2 << 20;
  CUmemAllocationProp p = {};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED, p.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle a, b;
  CUdeviceptr at = 0, base = 0;
  size_t size = 0;
  SAY(cuMemCreate(&a, page, &p, 0));
  SAY(cuMemCreate(&b, 2 * page, &p, 0));
  SAY(cuMemAddressReserve(&at, 8 * page, 0, 0, 0));
  SAY(cuMemMap(at, page, 0, a, 0));
  SAY(cuMemMap(at + page, 2 * page, 0, b, 0));
  auto range = [&](CUdeviceptr q) {
    base = 0, size = 0;
    int r = cuMemGetAddressRange(&base, &size, q);
    printf("range at %+ld MiB: %d, base %+ld MiB, %zu MiB\n", long(q - at) >> 20, r,
           r ? 0 : long(base - at) >> 20, size >> 20);
  };
  range(at), range(at + page), range(at + 2 * page), range(at + 4 * page);
  CUmemAccessDesc d = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  SAY(cuMemSetAccess(at, 3 * page, &d, 1));
  range(at), range(at + page), range(at + 2 * page), range(at + 4 * page);
  SAY(cuMemUnmap(at + page, page));      // half of a mapping
  SAY(cuMemUnmap(at + 4 * page, page));  // nothing is mapped there
  SAY(cuMemUnmap(at, 8 * page));         // all of the reservation, of which some is mapped
  range(at), range(at + page);
  SAY(cuMemUnmap(at, 3 * page));
  SAY(cuMemUnmap(at, 8 * page));  // now none
  SAY(cuMemAddressFree(at, 8 * page));
}
