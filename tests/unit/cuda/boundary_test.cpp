// No exception leaves an entry point: exceptions and a lack of host memory become status codes.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/cuda/core/queue/core.hpp"
#include "tests/unit/cuda/runtime_calls.hpp"

namespace {

thread_local void (*on_entry)() = nullptr;     // called in an entry point's first step
std::atomic<long> allocations_left{1l << 60};  // then the host is out of memory
std::atomic<long> refused_allocations_left{
    -1};  // number of failures; negative: all further ones fail

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (allocations_left.fetch_sub(1) <= 0) {
    const long left = refused_allocations_left.fetch_sub(1);
    if (left != 0) throw std::bad_alloc();
    allocations_left = 1l << 60;
  }
  void* made = alignment
                   ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                   : std::malloc(bytes ? bytes : 1);
  if (!made) throw std::bad_alloc();
  return made;
}

}  // namespace

// Replaces the library's own function, since a program's definition has precedence.
bool inflight::cuda::Core::ending() {
  if (on_entry) on_entry();
  return false;
}
void* operator new(std::size_t bytes) { return allocate(bytes, 0); }
void* operator new[](std::size_t bytes) { return allocate(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t a) {
  return allocate(bytes, std::size_t(a));
}
void* operator new[](std::size_t bytes, std::align_val_t a) {
  return allocate(bytes, std::size_t(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace inflight::cuda::testing {
namespace {

using ::testing::HasSubstr;

constexpr int out_of_memory = 2, unknown = 999;

std::vector<std::string> exports(const std::string& list) {
  std::ifstream file(INFLIGHT_EXPORTS "/" + list + ".txt");
  EXPECT_TRUE(file) << list;
  std::vector<std::string> names;
  for (std::string name; file >> name;) names.push_back(name);
  return names;
}

// Entry points that cannot fail: they only access the thread's own state or a table of constants.
const std::set<std::string> cannot_fail{"__cudaPopCallConfiguration", "__cudaRegisterFatBinaryEnd",
                                        "cudaCreateChannelDesc",      "cudaGetErrorName",
                                        "cudaGetErrorString",         "cudaGetLastError",
                                        "cudaPeekAtLastError",        "cudaRuntimeGetVersion"};
// Registration before and after main, without checks. EveryAllocationMayFail covers these.
const std::set<std::string> registration{"__cudaInitModule",         "__cudaPushCallConfiguration",
                                         "__cudaRegisterFatBinary",  "__cudaRegisterFunction",
                                         "__cudaRegisterManagedVar", "__cudaRegisterVar",
                                         "__cudaUnregisterFatBinary"};

// Calls every name with null arguments while its first step throws. Returns the results.
int answer_of(void* library, const std::string& name) {
  using Call = int (*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                       void*, void*, void*);
  auto call = reinterpret_cast<Call>(dlsym(library, name.c_str()));
  EXPECT_TRUE(call) << name;
  return call ? call(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                     nullptr, nullptr, nullptr, nullptr, nullptr, nullptr)
              : -1;
}

struct Library {
  const char *list, *file;
};
void PrintTo(const Library& library, std::ostream* out) { *out << library.file; }
class Boundary : public ::testing::TestWithParam<Library> {
 protected:
  void expect_everywhere(void (*thrown)(), int code) {
    void* library = dlopen(GetParam().file, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    int wrapped = 0, refused = 0;
    for (const std::string& name : exports(GetParam().list)) {
      if (cannot_fail.contains(name) || registration.contains(name)) continue;
      on_entry = thrown;
      const int answer = answer_of(library, name);
      on_entry = nullptr;
      // A name without its own definition is refused at once.
      if (answer == int(Status::not_supported)) {
        ++refused;
      } else {
        EXPECT_EQ(answer, code) << name;
        ++wrapped;
      }
    }
    EXPECT_GT(wrapped, 150);
    EXPECT_LT(refused, wrapped);
  }
};

TEST_P(Boundary, TurnsEveryExceptionIntoACode) {
  ::testing::internal::CaptureStderr();
  expect_everywhere([] { throw std::runtime_error("the test threw this"); }, unknown);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("the test threw this"));
}

TEST_P(Boundary, SaysThatTheHostHasNoMemory) {
  ::testing::internal::CaptureStderr();
  expect_everywhere([] { throw std::bad_alloc(); }, out_of_memory);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("this host has no more memory for it"));
}

INSTANTIATE_TEST_SUITE_P(Libraries, Boundary,
                         ::testing::Values(Library{"runtime", "libcudart.so.13"},
                                           Library{"runtime12", "libcudart.so.12"},
                                           Library{"driver", "libcuda.so.1"}),
                         [](const auto& info) { return std::string(info.param.list); });

TEST(Boundary, NamesTheCall) {
  ::testing::internal::CaptureStderr();
  on_entry = [] { throw std::bad_alloc(); };
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 16), out_of_memory);
  on_entry = nullptr;
  EXPECT_EQ(cudaGetLastError(), out_of_memory);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("inflight: cudaMalloc failed"));
}

TEST(Boundary, AHostFunctionsExceptionEndsTheContextOnly) {
  ::testing::internal::CaptureStderr();
  auto thrower = [](void*) { throw std::runtime_error("of the host function"); };
  ASSERT_EQ(cudaLaunchHostFunc(nullptr, thrower, nullptr), 0);
  EXPECT_EQ(cudaDeviceSynchronize(), unknown);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("of the host function"));
}

// The calls of nvcc's host code and then of the program.
extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                            void*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);
void __cudaUnregisterFatBinary(void**);
unsigned __cudaPushCallConfiguration(abi::Dim3, abi::Dim3, std::size_t, void*);
int __cudaPopCallConfiguration(abi::Dim3*, abi::Dim3*, std::size_t*, void*);
}

void whole_program() {
  struct {
    std::uint32_t magic = 0x466243B1, version = 1;
    const void *data = nullptr, *prelinked = nullptr;
  } wrapper;
  static char host, variable;
  void** fatbin = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(fatbin, &host, nullptr, "add", -1, nullptr, nullptr, nullptr, nullptr,
                         nullptr);
  __cudaRegisterVar(fatbin, &variable, nullptr, "counter", 0, 4, 0, 0);
  void *loaded = nullptr, *kernel = nullptr, *memory = nullptr, *stream = nullptr, *event = nullptr;
  cudaLibraryLoadData(&loaded, kernels, nullptr, nullptr, 0, nullptr, nullptr, 0);
  cudaLibraryGetKernel(&kernel, loaded, "add");
  cudaMalloc(&memory, 4096);
  cudaStreamCreate(&stream);
  cudaEventCreateWithFlags(&event, 0);
  cudaMemsetAsync(memory, 0, 4096, stream);
  unsigned count = 1024, value = 7;
  void* arguments[] = {&memory, &count, &value};
  abi::Dim3 grid{4, 1, 1}, block{256, 1, 1};
  std::size_t shared = 0;
  if (__cudaPushCallConfiguration(grid, block, 0, stream) == 0)
    __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
  if (kernel) cudaLaunchKernel(kernel, grid, block, arguments, 0, stream);
  cudaEventRecord(event, stream);
  cudaStreamBeginCapture(stream, 0);
  if (kernel) cudaLaunchKernel(kernel, grid, block, arguments, 0, stream);
  void *graph = nullptr, *instance = nullptr;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&instance, graph, 0);
  cudaGraphLaunch(instance, stream);
  cudaLaunchHostFunc(
      stream, [](void*) {}, nullptr);
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(instance);
  cudaGraphDestroy(graph);
  cudaEventDestroy(event);
  cudaStreamDestroy(stream);
  cudaFree(memory);
  cudaLibraryUnload(loaded);
  __cudaUnregisterFatBinary(fatbin);
}

constexpr long plenty = 1l << 60;

// Runs in its own process: the program, in which `count` allocations fail from number `first` on.
// Exits with 0 if CUDA still works after them.
[[noreturn]] void run_program(long first, long count) {
  alarm(30);  // in case a lock or stream stays blocked
  refused_allocations_left = count;
  allocations_left = first;
  whole_program();
  allocations_left = plenty;
  // Work that runs when memory is exhausted ends the context. Nothing else does.
  void* memory = nullptr;
  const int code = cudaMalloc(&memory, 64);
  _exit(code == 0 || code == out_of_memory ? 0 : 101);
}

TEST(Boundary, DISABLED_TheProgram) {
  const char *first = std::getenv("FIRST"), *count = std::getenv("COUNT");
  ASSERT_TRUE(first && count) << "EveryAllocationMayFail runs this";
  run_program(std::atol(first), std::atol(count));
}

// The exit status of the program in a new process.
int run_short_of_memory(long first, long count) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("FIRST", std::to_string(first).c_str(), 1);
    setenv("COUNT", std::to_string(count).c_str(), 1);
    if (!std::freopen("/dev/null", "w", stderr) || !std::freopen("/dev/null", "w", stdout))
      _exit(100);
    execl("/proc/self/exe", "program", "--gtest_filter=Boundary.DISABLED_TheProgram",
          "--gtest_also_run_disabled_tests", nullptr);
    _exit(100);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(Boundary, EveryAllocationMayFail) {
  const long before = allocations_left;
  whole_program();
  const long all = before - allocations_left;
  ASSERT_EQ(cudaGetLastError(), 0);
  ASSERT_GT(all, 100);
  for (const long count : {1l, 3l, -1l})
    for (long first = 0; first < all; first += 1 + all / 40)
      EXPECT_EQ(run_short_of_memory(first, count), 0) << first << " of " << all << ", " << count;
}

}  // namespace
}  // namespace inflight::cuda::testing
