// Correct use of managed, pinned and mapped memory by the host while work is in flight: no report,
// no hang and no wrong result.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/kernels/check/check_test.cuh"

constexpr int count = 1024;
constexpr std::size_t bytes = count * sizeof(int);

// A condition that must hold. The run fails otherwise.
void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::abort();
}

template <class T>
T* managed(std::size_t elements) {
  T* data;
  CHECK(cudaMallocManaged(&data, elements * sizeof(T)));
  return data;
}
template <class T>
T* pinned(std::size_t elements) {
  T* data;
  CHECK(cudaMallocHost(&data, elements * sizeof(T)));
  return data;
}

__global__ void fill(int* data, int value, int elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < elements) data[i] = value;
}
__global__ void add_one(int* data, int elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < elements) data[i] += 1;
}
__global__ void tell(int* data, volatile int* flag) {
  data[threadIdx.x] = 7;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    *flag = 1;
  }
}
__global__ void tell_plainly(int* data, int* flag) {
  data[0] = 7;
  __threadfence_system();
  flag[0] = 1;
}
__global__ void listen(const int* data, volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  __threadfence_system();
  *out = data[0];
}
// Answers each number that the host writes, until it writes a negative one.
__global__ void serve(volatile int* asked, volatile int* answered, const int* question,
                      int* answer) {
  for (int round = 1;; ++round) {
    while (*asked < round && *asked >= 0) {
    }
    if (*asked < 0) return;
    __threadfence_system();
    *answer = 2 * *question;
    __threadfence_system();
    *answered = round;
  }
}

// The host polls memory that a kernel writes.
void poll_flag() {
  int* data = pinned<int>(32);
  volatile int* flag = pinned<int>(1);
  *flag = 0;
  tell<<<1, 32>>>(data, flag);
  while (*flag == 0) {
  }
  for (int i = 0; i < 32; ++i) expect(data[i] == 7, "what the flag announces");
}
void poll_plain_flag() {
  int* data = managed<int>(1);
  int* flag = managed<int>(1);
  *flag = 0;
  tell_plainly<<<1, 1>>>(data, flag);
  while (*static_cast<volatile int*>(flag) == 0) {
  }
  expect(*data == 7, "what the plain flag announces");
}
// A kernel polls memory that the host writes.
void set_flag() {
  int *data = managed<int>(1), *out = managed<int>(1);
  volatile int* flag = pinned<int>(1);
  *flag = 0;
  listen<<<1, 1>>>(data, flag, out);
  data[0] = 9;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  *flag = 1;
  CHECK(cudaDeviceSynchronize());
  expect(*out == 9, "what the host's flag announces");
}
void persistent_kernel() {
  volatile int *asked = pinned<int>(1), *answered = pinned<int>(1);
  int *question = pinned<int>(1), *answer = pinned<int>(1);
  *asked = *answered = 0;
  serve<<<1, 1>>>(asked, answered, question, answer);
  for (int round = 1; round <= 20; ++round) {
    *question = round;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    *asked = round;
    while (*answered < round) {
    }
    expect(*answer == 2 * round, "the answer");
  }
  *asked = -1;
  CHECK(cudaDeviceSynchronize());
}

// One buffer is filled while the other is copied.
void double_buffer() {
  int* host[2] = {pinned<int>(count), pinned<int>(count)};
  Buffer<int> device(count);
  cudaStream_t stream;
  cudaEvent_t free[2];
  CHECK(cudaStreamCreate(&stream));
  for (auto& each : free) CHECK(cudaEventCreate(&each));
  for (int round = 0; round < 8; ++round) {
    const int b = round % 2;
    CHECK(cudaEventSynchronize(free[b]));
    for (int i = 0; i < count; ++i) host[b][i] = round;
    CHECK(cudaMemcpyAsync(device, host[b], bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(free[b], stream));
    add_one<<<count / 256, 256, 0, stream>>>(device, count);
  }
  CHECK(cudaStreamSynchronize(stream));
  expect(device.read()[5] == 8, "the last round");
}
void query_loop() {
  int* data = managed<int>(count);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (int round = 0; round < 8; ++round) {
    fill<<<count / 256, 256, 0, stream>>>(data, round, count);
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
    expect(data[count - 1] == round, "what a query has found to be done");
  }
}
void prefetch() {
  int* data = managed<int>(count);
  int device = 0;
  CHECK(cudaGetDevice(&device));
  const cudaMemLocation here{cudaMemLocationTypeDevice, device}, host{cudaMemLocationTypeHost, 0};
  CHECK(cudaMemAdvise(data, bytes, cudaMemAdviseSetPreferredLocation, here));
  for (int i = 0; i < count; ++i) data[i] = i;
  CHECK(cudaMemPrefetchAsync(data, bytes, here, 0, 0));
  expect(data[3] == 3, "what is on its way to the device");
  add_one<<<count / 256, 256>>>(data, count);
  CHECK(cudaMemPrefetchAsync(data, bytes, host, 0, 0));
  CHECK(cudaDeviceSynchronize());
  expect(data[3] == 4, "what came back");
}
void attached() {
  int *mine = managed<int>(count), *theirs = managed<int>(count);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamAttachMemAsync(stream, theirs, 0, cudaMemAttachSingle));
  CHECK(cudaStreamSynchronize(stream));
  fill<<<count / 256, 256, 0, stream>>>(theirs, 1, count);
  for (int i = 0; i < count; ++i) mine[i] = i;
  CHECK(cudaStreamSynchronize(stream));
  expect(theirs[1] == 1 && mine[9] == 9, "both");
}
// Bytes of one page, some used by the host and some by the device.
void one_page() {
  int* data = managed<int>(count);
  fill<<<1, 256>>>(data, 1, count / 2);
  for (int i = count / 2; i < count; ++i) data[i] = 2;
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i)
    expect(data[i] == (i < 256 ? 1 : i < count / 2 ? 0 : 2), "a byte");
}
void host_function() {
  struct Shared {
    int* data;
    int sum = 0;
    bool done = false;
    std::mutex mutex;
    std::condition_variable changed;
  } shared;
  shared.data = managed<int>(count);
  fill<<<count / 256, 256>>>(shared.data, 1, count);
  CHECK(cudaLaunchHostFunc(
      nullptr,
      [](void* to) {
        auto& all = *static_cast<Shared*>(to);
        for (int i = 0; i < count; ++i) all.sum += all.data[i]++;
        const std::lock_guard lock(all.mutex);
        all.done = true;
        all.changed.notify_all();
      },
      &shared));
  std::unique_lock lock(shared.mutex);
  shared.changed.wait(lock, [&] { return shared.done; });
  expect(shared.sum == count && shared.data[0] == 2, "the callback's sum");
  add_one<<<count / 256, 256>>>(shared.data, count);
  CHECK(cudaDeviceSynchronize());
  expect(shared.data[0] == 3, "what the kernel added");
}
void copies_between() {
  int *data = managed<int>(count), *host = pinned<int>(count);
  std::vector<int> pageable(count);
  fill<<<count / 256, 256>>>(data, 5, count);
  CHECK(cudaMemcpy(pageable.data(), data, bytes, cudaMemcpyDefault));
  expect(pageable[7] == 5 && data[7] == 5, "a copy waits");
  fill<<<count / 256, 256>>>(data, 6, count);
  CHECK(cudaMemcpy(host, data, bytes, cudaMemcpyDefault));
  expect(host[7] == 6, "a copy between two of them, too");
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMemcpyAsync(data, pageable.data(), bytes, cudaMemcpyDefault, stream));
  pageable[7] = 0;  // already read
  CHECK(cudaStreamSynchronize(stream));
  expect(data[7] == 5, "a copy of pageable memory");
}
void graph() {
  int* data = managed<int>(count);
  cudaStream_t stream;
  cudaGraph_t made;
  cudaGraphExec_t exec;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add_one<<<count / 256, 256, 0, stream>>>(data, count);
  add_one<<<count / 256, 256, 0, stream>>>(data, count);
  data[0] = 10;  // no work runs yet
  CHECK(cudaStreamEndCapture(stream, &made));
  CHECK(cudaGraphInstantiate(&exec, made, 0));
  for (int round = 1; round < 4; ++round) {
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    expect(data[0] == 10 + 2 * round, "the graph's sum");
    data[1] = 0;
  }
}
void threads() {
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([t] {
      int* data = managed<int>(count);
      cudaStream_t stream;
      CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < count; i += 64) data[i] = t;
        add_one<<<count / 256, 256, 0, stream>>>(data, count);
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < count; i += 64) expect(data[i] == t + 1, "a thread's own");
      }
    });
  for (std::thread& each : all) each.join();
}

template <class T>
struct Allocator {
  using value_type = T;
  Allocator() = default;
  template <class U>
  Allocator(const Allocator<U>&) {}
  T* allocate(std::size_t elements) { return managed<T>(elements); }
  void deallocate(T* data, std::size_t) { CHECK(cudaFree(data)); }
  bool operator==(const Allocator&) const { return true; }
};
void containers() {
  std::vector<int, Allocator<int>> numbers;
  std::map<int, int, std::less<>, Allocator<std::pair<const int, int>>> map;
  int* busy = managed<int>(count);
  for (int i = 0; i < 300; ++i) {
    if (i % 50 == 0) fill<<<count / 256, 256>>>(busy, i, count);
    numbers.push_back(i);
    map[i * 7 % 300] = i;
  }
  CHECK(cudaDeviceSynchronize());
  expect(numbers[299] == 299 && map.size() == 300 && map[7] == 1, "containers");
}

// A lock in managed memory also uses a system call.
void locks() {
  struct Shared {
    std::mutex mutex;
    int sum = 0;
  };
  auto* shared = new (managed<Shared>(1)) Shared;
  int* busy = managed<int>(count);
  std::vector<std::thread> all;
  for (int t = 0; t < 3; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        if (i % 50 == 0) fill<<<count / 256, 256>>>(busy, i, count);
        const std::lock_guard lock(shared->mutex);
        ++shared->sum;
        std::this_thread::yield();
      }
    });
  for (std::thread& each : all) each.join();
  expect(shared->sum == 600, "what was counted under a lock");
}
void child() {
  int* data = managed<int>(count);
  data[0] = 4, data[count / 2] = 5;
  int* busy = managed<int>(count);
  fill<<<count / 256, 256>>>(busy, 1, count);
  const pid_t one = fork();
  if (one == 0) _exit(data[0] == 4 && data[count / 2]++ == 5 ? 0 : 1);
  int status = 1;
  expect(waitpid(one, &status, 0) == one && status == 0, "what a child sees");
  expect(data[count / 2] == 5, "a child's own page");
}

sigjmp_buf back;
std::atomic<int> caught{0};
void on_fault(int, siginfo_t*, void*) {
  ++caught;
  siglongjmp(back, 1);
}
__attribute__((noinline)) void fault_at(volatile int* address) {
  if (sigsetjmp(back, 1) == 0) *address = 1;
}
// The program's own signal handler gets its own faults: installed before, while work is in flight,
// and in front of another handler.
void own_handler() {
  auto* closed =
      static_cast<int*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  struct sigaction action {
  }, old{};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  CHECK(cudaFree(nullptr));
  sigaction(SIGSEGV, &action, nullptr);
  int *data = managed<int>(count), *busy = managed<int>(count);
  fill<<<count / 256, 256>>>(busy, 1, count);
  fault_at(closed);
  data[0] = 1;
  sigaction(SIGSEGV, &action, &old);
  expect(old.sa_sigaction == on_fault, "the handler that was");
  data[1] = 2;
  fault_at(closed);
  fill<<<count / 256, 256>>>(busy, 2, count);
  data[2] = 3;
  fault_at(closed);
  signal(SIGSEGV, SIG_DFL);
  data[3] = 4;
  CHECK(cudaDeviceSynchronize());
  expect(caught == 3 && data[0] + data[1] + data[2] + data[3] == 10, "three faults of its own");
}
// A handler installed after the first access passes on faults that it does not know, and jumps out
// of the others.
struct sigaction passed_on;
void on_fault_or_pass_on(int number, siginfo_t* info, void* context) {
  if (info->si_addr == nullptr) {
    ++caught;
    siglongjmp(back, 1);
  }
  passed_on.sa_sigaction(number, info, context);
}
void later_handler() {
  int *data = managed<int>(count), *busy = managed<int>(count);
  fill<<<count / 256, 256>>>(busy, 1, count);
  data[0] = 1;
  struct sigaction action {};
  action.sa_sigaction = on_fault_or_pass_on;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  // As in a library that makes the system call itself, which nothing intercepts.
  auto* const unseen = reinterpret_cast<decltype(&sigaction)>(dlsym(RTLD_DEFAULT, "sigaction"));
  unseen(SIGSEGV, &action, &passed_on);
  data[1] = 1;
  for (int round = 0; round < 3; ++round) {
    fault_at(nullptr);
    fill<<<count / 256, 256>>>(busy, round, count);
    data[2] = round;
  }
  CHECK(cudaDeviceSynchronize());
  expect(caught == 3 && data[0] + data[1] + data[2] == 4, "faults of its own and others");
}
void files() {
  const char text[] = "the quick brown fox";
  char *out = reinterpret_cast<char*>(managed<int>(count)),
       *in = reinterpret_cast<char*>(pinned<int>(count));
  int* busy = managed<int>(count);
  int ends[2];
  expect(pipe(ends) == 0, "a pipe");
  for (int round = 0; round < 3; ++round) {
    fill<<<count / 256, 256>>>(busy, round, count);
    std::memcpy(out, text, sizeof text);
    fill<<<count / 256, 256>>>(busy, round, count);
    expect(write(ends[1], out, sizeof text) == sizeof text, "a write");
    fill<<<count / 256, 256>>>(busy, round, count);
    expect(read(ends[0], in, bytes) == sizeof text, "a read");
    expect(std::strcmp(in, text) == 0, "what was read");
    fill<<<count / 256, 256>>>(busy, round, count);
    std::FILE* file = std::tmpfile();
    expect(std::fwrite(out, 1, bytes, file) == bytes, "fwrite");
    std::rewind(file);
    fill<<<count / 256, 256>>>(busy, round, count);
    expect(std::fread(in, 1, bytes, file) == bytes, "fread");
    std::fclose(file);
    CHECK(cudaDeviceSynchronize());
  }
}
// Megabytes that the host fills while a kernel is in flight.
void large() {
  constexpr int many = 6 << 20;
  int *data = managed<int>(many), *busy = managed<int>(count);
  fill<<<count / 256, 256>>>(busy, 1, count);
  for (int i = 0; i < many; i += 64) data[i] = i;
  fill<<<count / 256, 256>>>(busy, 1, count);
  long sum = 0;
  for (int i = 0; i < many; i += 64) sum += data[i] == i;
  CHECK(cudaDeviceSynchronize());
  expect(sum == many / 64, "all of it");
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"poll_flag", poll_flag},
                   {"poll_plain_flag", poll_plain_flag},
                   {"set_flag", set_flag},
                   {"persistent_kernel", persistent_kernel},
                   {"double_buffer", double_buffer},
                   {"query_loop", query_loop},
                   {"prefetch", prefetch},
                   {"attached", attached},
                   {"one_page", one_page},
                   {"host_function", host_function},
                   {"copies_between", copies_between},
                   {"graph", graph},
                   {"threads", threads},
                   {"containers", containers},
                   {"locks", locks},
                   {"child", child},
                   {"own_handler", own_handler},
                   {"later_handler", later_handler},
                   {"files", files},
                   {"large", large}});
}
