// Ranges that wrap, that have holes or whose memory has been freed: calls refuse them, and work and
// kernels end with an illegal address. Nothing outside of a program's memory is touched.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

using Handle = void*;
using Address = unsigned long long;

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(Handle*, int);
int cuCtxSetCurrent(Handle);
int cuCtxGetCurrent(Handle*);
int cuCtxSynchronize();
int cuMemAlloc_v2(Address*, std::size_t);
int cuMemFree_v2(Address);
int cuMemHostRegister_v2(void*, std::size_t, unsigned);
int cuMemcpyDtoH_v2(void*, Address, std::size_t);
int cuMemcpy2D_v2(const void*);
int cuMemcpy3D_v2(const void*);
int cuMemcpyAsync(Address, Address, std::size_t, Handle);
int cuMemsetD8_v2(Address, unsigned char, std::size_t);
int cuMemsetD8Async(Address, unsigned char, std::size_t, Handle);
int cuMemsetD16_v2(Address, unsigned short, std::size_t);
int cuMemsetD32_v2(Address, unsigned, std::size_t);
int cuMemsetD32Async(Address, unsigned, std::size_t, Handle);
int cuMemsetD2D8_v2(Address, std::size_t, unsigned char, std::size_t, std::size_t);
int cuMemsetD2D32_v2(Address, std::size_t, unsigned, std::size_t, std::size_t);
int cuMemAddressReserve(Address*, std::size_t, std::size_t, Address, unsigned long long);
int cuMemAddressFree(Address, std::size_t);
int cuMemCreate(unsigned long long*, std::size_t, const void*, unsigned long long);
int cuMemMap(Address, std::size_t, std::size_t, unsigned long long, unsigned long long);
int cuMemUnmap(Address, std::size_t);
int cuMemSetAccess(Address, std::size_t, const void*, std::size_t);
int cuMulticastCreate(unsigned long long*, const void*);
int cuMulticastAddDevice(unsigned long long, int);
int cuMulticastBindMem(unsigned long long, std::size_t, unsigned long long, std::size_t,
                       std::size_t, unsigned long long);
int cuTensorMapEncodeIm2col(void*, unsigned, unsigned, void*, const std::uint64_t*,
                            const std::uint64_t*, const int*, const int*, unsigned, unsigned,
                            const unsigned*, unsigned, unsigned, unsigned, unsigned);
int cuTexObjectCreate(unsigned long long*, const void*, const void*, const void*);
int cuModuleLoadData(Handle*, const void*);
int cuModuleGetFunction(Handle*, Handle, const char*);
int cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   Handle, void**, void**);
int cuStreamCreate(Handle*, unsigned);
int cuStreamBeginCapture_v2(Handle, int);
int cuStreamEndCapture(Handle, Handle*);
int cuGraphCreate(Handle*, unsigned);
int cuGraphAddMemsetNode(Handle*, Handle, const Handle*, std::size_t, const void*, Handle);
int cuGraphInstantiateWithFlags(Handle*, Handle, unsigned long long);
int cuGraphLaunch(Handle, Handle);
}

namespace {

constexpr int success = 0, invalid_value = 1, not_supported = 801, out_of_memory = 2,
              illegal_address = 700;
constexpr std::size_t page = 4096, granule = 2 << 20;
constexpr std::size_t half = std::size_t{1} << 63, quarter = std::size_t{1} << 62;

struct Side3D {
  std::size_t x, y, z, lod;
  unsigned type;
  const void* host;
  Address device;
  Handle array, context;
  std::size_t pitch, height;
};
struct Copy3D {
  Side3D from, to;
  std::size_t width, height, depth;
};
struct Side2D {
  std::size_t x, y;
  unsigned type;
  const void* host;
  Address device;
  Handle array;
  std::size_t pitch;
};
struct Copy2D {
  Side2D from, to;
  std::size_t width, height;
};
constexpr unsigned on_device = 2;  // CUmemorytype

struct FillNode {
  Address to;
  std::size_t pitch;
  unsigned value, element;
  std::size_t width, height;
};
struct Location {
  int type, id;
};
constexpr Location first_device{1, 0};
struct Properties {
  int type = 1, handle_types = 0;
  Location location = first_device;
  void* win32 = nullptr;
  unsigned char rest[8] = {};
};
struct Access {
  Location location = first_device;
  int flags = 3;
};
struct MulticastProperties {
  unsigned devices = 1;
  std::size_t bytes = granule;
  unsigned long long handle_types = 0, flags = 0;
};
struct LinearTexture {
  int type = 2;
  Address address = 0;
  int format = 3, channels = 1;  // 32-bit unsigned integers
  std::size_t bytes = 0;
  std::size_t rest[16] = {};
};
struct TextureDescription {
  int address[3] = {}, filter = 0;
  unsigned flags = 1;  // integers stay integers
  int rest[32] = {};
};

constexpr const char* header = ".version 8.6\n.target sm_90a\n.address_size 64\n";

class DriverRanges : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), success);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), success);
    ASSERT_EQ(cuCtxSetCurrent(context_), success);
    ASSERT_EQ(cuMemAlloc_v2(&memory_, page), success);
    ASSERT_EQ(cuMemsetD8_v2(memory_, 7, page), success);
  }
  // Runs one thread of the kernel `k`.
  static void run(const std::string& text, std::vector<void*> arguments) {
    Handle module = nullptr, kernel = nullptr;
    ASSERT_EQ(cuModuleLoadData(&module, (header + text).c_str()), success);
    ASSERT_EQ(cuModuleGetFunction(&kernel, module, "k"), success);
    ASSERT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments.data(), nullptr),
              success);
  }
  template <class T>
  static std::vector<T> read(Address from, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), from, count * sizeof(T)), success);
    return values;
  }
  void expect_untouched() const {
    const auto bytes = read<unsigned char>(memory_, page);
    EXPECT_EQ(std::ranges::count(bytes, 7), std::ptrdiff_t(page));
  }
  static Address reserve(std::size_t bytes) {
    Address base = 0;
    EXPECT_EQ(cuMemAddressReserve(&base, bytes, 0, 0, 0), success);
    return base;
  }
  static unsigned long long create() {
    unsigned long long handle = 0;
    const Properties properties;
    EXPECT_EQ(cuMemCreate(&handle, granule, &properties, 0), success);
    return handle;
  }
  Handle context_ = nullptr;
  Address memory_ = 0;
};

TEST_F(DriverRanges, FillsThatWrapAreInvalid) {
  EXPECT_EQ(cuMemsetD2D8_v2(memory_, half, 1, 1, 3), invalid_value);
  EXPECT_EQ(cuMemsetD2D32_v2(memory_, quarter, 1, 1, 5), invalid_value);
  EXPECT_EQ(cuMemsetD2D8_v2(memory_, 0 - std::size_t{256}, 1, 1, 2), invalid_value);
  EXPECT_EQ(cuMemsetD32_v2(memory_, 1, quarter + 1), invalid_value);
  EXPECT_EQ(cuMemsetD32Async(memory_, 1, quarter + 1, nullptr), invalid_value);
  EXPECT_EQ(cuMemsetD16_v2(memory_, 1, half + 1), invalid_value);
  EXPECT_EQ(cuMemsetD8_v2(memory_ + 1, 1, ~std::size_t{0}), invalid_value);
  Handle graph = nullptr, node = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), success);
  const FillNode rows{memory_, half, 1, 1, 1, 3}, elements{memory_, 0, 1, 4, quarter + 1, 1};
  EXPECT_EQ(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &rows, context_), invalid_value);
  EXPECT_EQ(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &elements, context_), invalid_value);
  EXPECT_EQ(cuCtxSynchronize(), success);
  expect_untouched();
}

TEST_F(DriverRanges, CopiesThatWrapAreInvalid) {
  Address from = 0;
  ASSERT_EQ(cuMemAlloc_v2(&from, page), success);
  Copy2D rows{};
  rows.from.type = rows.to.type = on_device;
  rows.from.device = from, rows.to.device = memory_;
  rows.from.pitch = 16, rows.to.pitch = half;
  rows.width = 1, rows.height = 3;
  EXPECT_EQ(cuMemcpy2D_v2(&rows), invalid_value);
  std::swap(rows.from.pitch, rows.to.pitch);
  EXPECT_EQ(cuMemcpy2D_v2(&rows), invalid_value);
  rows.from.pitch = 16, rows.from.y = quarter;  // y * pitch is 2^66
  EXPECT_EQ(cuMemcpy2D_v2(&rows), invalid_value);

  Copy3D box{};
  box.from.type = box.to.type = on_device;
  box.from.device = from, box.to.device = memory_;
  box.from.pitch = box.to.pitch = 16, box.from.height = box.to.height = 2;
  box.width = 8, box.height = 2, box.depth = 2;
  ASSERT_EQ(cuMemcpy3D_v2(&box), success);
  ASSERT_EQ(cuMemsetD8_v2(memory_, 7, page), success);
  box.to.height = quarter;  // the second slice is 2^66 bytes behind the first
  EXPECT_EQ(cuMemcpy3D_v2(&box), invalid_value);
  box.to.height = 2, box.to.z = half;
  EXPECT_EQ(cuMemcpy3D_v2(&box), invalid_value);
  box.to.z = 0, box.from.x = ~std::size_t{0};
  EXPECT_EQ(cuMemcpy3D_v2(&box), invalid_value);
  EXPECT_EQ(cuCtxSynchronize(), success);
  expect_untouched();
}

TEST_F(DriverRanges, ReservationsThatWrapFindNoRoom) {
  Address base = 0;
  const std::size_t alignment = std::size_t{1} << 38;
  EXPECT_EQ(cuMemAddressReserve(&base, 0 - alignment + granule, alignment, 0, 0), out_of_memory);
  EXPECT_EQ(cuMemAddressReserve(&base, 0 - granule, 0, 0, 0), out_of_memory);
  EXPECT_EQ(base, 0u);
}

TEST_F(DriverRanges, MappedRangesThatWrapAreInvalid) {
  const Address base = reserve(4 * granule);
  const unsigned long long handle = create();
  const Access access;
  ASSERT_EQ(cuMemMap(base, granule, 0, handle, 0), success);
  ASSERT_EQ(cuMemSetAccess(base, granule, &access, 1), success);
  const std::size_t round = 0 - base + granule;  // ends at 2 MiB
  EXPECT_EQ(cuMemUnmap(base, round), invalid_value);
  EXPECT_EQ(cuMemSetAccess(base, round, &access, 1), invalid_value);
  EXPECT_EQ(cuMemMap(base + granule, 0 - base, 0, handle, 0), not_supported);
  EXPECT_EQ(cuMemMap(0 - Address{granule}, granule, 0, handle, 0), invalid_value);
  EXPECT_EQ(cuMemAddressFree(base, round), invalid_value);
  EXPECT_EQ(cuMemsetD8_v2(base, 1, granule), success);
  EXPECT_EQ(cuCtxSynchronize(), success);
}

constexpr const char* fetch = R"(
.visible .entry k(.param .u64 texture, .param .u32 at, .param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [texture];
  ld.param.u32 %r0, [at];
  ld.param.u64 %rd2, [out];
  tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r0}];
  st.global.u32 [%rd2], %r1;
  ret;
})";

TEST_F(DriverRanges, ATextureOverMemoryOfOthersIsAnIllegalAddress) {
  auto* const pages = static_cast<unsigned*>(
      mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  std::fill_n(pages, 3 * page / sizeof(unsigned), 0x600dface);
  ASSERT_EQ(cuMemHostRegister_v2(pages, page, 0), success);
  ASSERT_EQ(cuMemHostRegister_v2(pages + 2 * page / sizeof(unsigned), page, 0), success);
  LinearTexture memory;
  memory.address = Address(pages), memory.bytes = page;
  const TextureDescription description;
  unsigned long long one = 0, all = 0;
  ASSERT_EQ(cuTexObjectCreate(&one, &memory, &description, nullptr), success);
  memory.bytes = 3 * page;
  ASSERT_EQ(cuTexObjectCreate(&all, &memory, &description, nullptr), success);
  unsigned at = 1;
  run(fetch, {&one, &at, &memory_});
  EXPECT_EQ(read<unsigned>(memory_, 1)[0], 0x600dface);
  ASSERT_EQ(cuMemsetD8_v2(memory_, 7, page), success);
  at = page / sizeof(unsigned) + 1;  // in the page that was not registered
  run(fetch, {&all, &at, &memory_});
  EXPECT_EQ(cuCtxSynchronize(), illegal_address);
}

// Calls by a kernel for the 4096 bytes at `to`, whose codes it stores in `codes`.
constexpr const char* transfers = R"(
.extern .func (.param .b32 r) __cudaCDP2Memset2DAsync (.param .b64 to, .param .b64 pitch,
  .param .b32 value, .param .b64 width, .param .b64 height, .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2Memset3DAsync (.param .align 8 .b8 to[32],
  .param .b32 value, .param .align 8 .b8 box[24], .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2Memcpy2DAsync (.param .b64 to, .param .b64 to_pitch,
  .param .b64 from, .param .b64 from_pitch, .param .b64 width, .param .b64 height,
  .param .b32 kind, .param .b64 stream);
.visible .entry k(.param .u64 to, .param .u64 from, .param .u64 codes) {
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [from];
  ld.param.u64 %rd3, [codes];
  {  // 3 rows, 2^63 bytes apart
    .param .b64 to; .param .b64 pitch; .param .b32 value; .param .b64 width; .param .b64 height;
    .param .b64 stream; .param .b32 r;
    st.param.b64 [to], %rd1; st.param.b64 [pitch], 0x8000000000000000; st.param.b32 [value], 65;
    st.param.b64 [width], 1; st.param.b64 [height], 3; st.param.b64 [stream], 0;
    call.uni (r), __cudaCDP2Memset2DAsync, (to, pitch, value, width, height, stream);
    ld.param.b32 %r1, [r];
    st.global.u32 [%rd3], %r1;
  }
  {  // slices of -1 rows: the second begins 65536 bytes before the first
    .param .align 8 .b8 to[32]; .param .b32 value; .param .align 8 .b8 box[24];
    .param .b64 stream; .param .b32 r;
    st.param.b64 [to], %rd1; st.param.b64 [to+8], 65536; st.param.b64 [to+16], 16;
    st.param.b64 [to+24], -1; st.param.b32 [value], 65; st.param.b64 [box], 16;
    st.param.b64 [box+8], 2; st.param.b64 [box+16], 2; st.param.b64 [stream], 0;
    call.uni (r), __cudaCDP2Memset3DAsync, (to, value, box, stream);
    ld.param.b32 %r1, [r];
    st.global.u32 [%rd3+4], %r1;
  }
  {  // the source's rows are 2^63 bytes apart
    .param .b64 to; .param .b64 to_pitch; .param .b64 from; .param .b64 from_pitch;
    .param .b64 width; .param .b64 height; .param .b32 kind; .param .b64 stream; .param .b32 r;
    st.param.b64 [to], %rd1; st.param.b64 [to_pitch], 16; st.param.b64 [from], %rd2;
    st.param.b64 [from_pitch], 0x8000000000000000; st.param.b64 [width], 1;
    st.param.b64 [height], 3; st.param.b32 [kind], 3; st.param.b64 [stream], 0;
    call.uni (r), __cudaCDP2Memcpy2DAsync,
      (to, to_pitch, from, from_pitch, width, height, kind, stream);
    ld.param.b32 %r1, [r];
    st.global.u32 [%rd3+8], %r1;
  }
  ret;
})";

TEST_F(DriverRanges, TransfersByKernelsThatWrapAreInvalid) {
  Address from = 0, codes = 0;
  ASSERT_EQ(cuMemAlloc_v2(&from, page), success);
  ASSERT_EQ(cuMemAlloc_v2(&codes, page), success);
  run(transfers, {&memory_, &from, &codes});
  ASSERT_EQ(cuCtxSynchronize(), success);
  EXPECT_EQ(read<int>(codes, 3), (std::vector<int>{invalid_value, invalid_value, invalid_value}));
  expect_untouched();
}

// Asks for a fill of 1 MiB, frees the memory, and allocates 16 bytes until they lie where it was.
constexpr const char* fill_after_free = R"(
.extern .func (.param .b32 r) __cudaCDP2MemsetAsync (.param .b64 to, .param .b32 value,
  .param .b64 bytes, .param .b64 stream);
.extern .func (.param .b64 r) malloc (.param .b64 bytes);
.extern .func free (.param .b64 memory);
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<4>; .reg .b32 %r<3>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out];
  { .param .b64 bytes; .param .b64 r; st.param.b64 [bytes], 1048576;
    call.uni (r), malloc, (bytes); ld.param.b64 %rd2, [r]; }
  { .param .b64 to; .param .b32 value; .param .b64 bytes; .param .b64 stream; .param .b32 r;
    st.param.b64 [to], %rd2; st.param.b32 [value], 65; st.param.b64 [bytes], 1048576;
    st.param.b64 [stream], 0;
    call.uni (r), __cudaCDP2MemsetAsync, (to, value, bytes, stream); ld.param.b32 %r1, [r]; }
  { .param .b64 memory; st.param.b64 [memory], %rd2; call.uni free, (memory); }
  mov.u32 %r2, 0;
Next:
  { .param .b64 bytes; .param .b64 r; st.param.b64 [bytes], 16;
    call.uni (r), malloc, (bytes); ld.param.b64 %rd3, [r]; }
  setp.eq.u64 %p1, %rd3, %rd2;
  @%p1 bra Reused;
  { .param .b64 memory; st.param.b64 [memory], %rd3; call.uni free, (memory); }
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 10000;
  @%p2 bra Next;
  trap;
Reused:
  st.global.u32 [%rd1], %r1;
  ret;
})";

TEST_F(DriverRanges, AFillByAKernelOfFreedMemoryIsAnIllegalAddress) {
  run(fill_after_free, {&memory_});
  EXPECT_EQ(cuCtxSynchronize(), illegal_address);
}

TEST_F(DriverRanges, AGraphsFillOfFreedMemoryIsAnIllegalAddress) {
  Handle graph = nullptr, node = nullptr, exec = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), success);
  Address freed = 0;
  ASSERT_EQ(cuMemAlloc_v2(&freed, page), success);
  const FillNode fill{freed, page, 1, 1, page, 1};
  ASSERT_EQ(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context_), success);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), success);
  ASSERT_EQ(cuGraphLaunch(exec, nullptr), success);
  ASSERT_EQ(cuCtxSynchronize(), success);
  ASSERT_EQ(cuMemFree_v2(freed), success);
  ASSERT_EQ(cuGraphLaunch(exec, nullptr), success);
  EXPECT_EQ(cuCtxSynchronize(), illegal_address);
}

TEST_F(DriverRanges, AGraphsCopyToFreedMemoryIsAnIllegalAddress) {
  Handle stream = nullptr, graph = nullptr, exec = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 1), success);
  Address freed = 0;
  ASSERT_EQ(cuMemAlloc_v2(&freed, page), success);
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, 0), success);
  ASSERT_EQ(cuMemcpyAsync(freed, memory_, page, stream), success);  // by its addresses
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), success);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), success);
  ASSERT_EQ(cuMemFree_v2(freed), success);
  ASSERT_EQ(cuGraphLaunch(exec, stream), success);
  EXPECT_EQ(cuCtxSynchronize(), illegal_address);
}

constexpr const char* store_columns = R"(
.visible .entry k(.param .align 64 .b8 map[128], .param .u32 w) {
  .reg .b64 %rd<2>; .reg .b32 %r<4>;
  .shared .align 128 .b8 from[128];
  mov.u64 %rd1, map;
  cvta.param.u64 %rd1, %rd1;
  mov.u32 %r1, from;
  mov.u32 %r2, 0;
  ld.param.u32 %r3, [w];
  cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group
    [%rd1, {%r2, %r3, %r2}], [%r1];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
})";

// A column of two pixels of 16 bytes: the second is the first of a multicast object's bytes, and
// the first ends at 2^64.
TEST_F(DriverRanges, ATensorStoreThatWrapsToAMulticastObjectIsAnIllegalAddress) {
  unsigned long long object = 0;
  const MulticastProperties properties;
  ASSERT_EQ(cuMulticastCreate(&object, &properties), success);
  ASSERT_EQ(cuMulticastAddDevice(object, 0), success);
  ASSERT_EQ(cuMulticastBindMem(object, 0, create(), 0, granule, 0), success);
  const Address base = reserve(granule);
  ASSERT_EQ(cuMemMap(base, granule, 0, object, 0), success);
  const Access access;
  ASSERT_EQ(cuMemSetAccess(base, granule, &access, 1), success);

  // The tensor begins one image before the object. Pixel `width` of that image is at 2^64 - 16.
  const std::uint64_t width = 1 << 24, rounding = 16 * width;
  const std::uint64_t image = (base + 16) % rounding + rounding;
  const std::uint64_t begin = base - image, pixel = (0 - std::uint64_t{16} - begin) / width;
  const std::uint64_t sizes[] = {16, width + 1, 2}, strides[] = {pixel, image};
  const int corner[] = {0};
  const unsigned steps[] = {1, 1, 1};
  alignas(64) std::byte map[128];
  ASSERT_EQ(cuTensorMapEncodeIm2col(map, 0, 3, reinterpret_cast<void*>(begin), sizes, strides,
                                    corner, corner, 16, 2, steps, 0, 0, 0, 0),
            success);
  unsigned w = width;
  run(store_columns, {map, &w});
  EXPECT_EQ(cuCtxSynchronize(), illegal_address);
}

}  // namespace
