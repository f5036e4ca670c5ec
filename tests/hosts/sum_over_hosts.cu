// A sum over the GPUs of two hosts, with a process for each GPU. The processes of a host share
// memory by cudaIpc handles, and the first of each host exchanges its host's sum over TCP.
//   sum_over_hosts HOST PROCESS PROCESSES     HOST and PROCESS count from 0, PROCESSES are a host's
#include <arpa/inet.h>
#include <cuda_runtime.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int count = 5000, threads = 128;
constexpr int hosts = 2, port_in_host = 5000, port_between = 6000;
const char* const first_host = "10.77.0.1";  // two-hosts.sh

[[noreturn]] void fail(const char* what, const char* why) {
  std::printf("%s: %s\n", what, why);
  std::exit(1);
}
void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) fail(what, cudaGetErrorName(status));
}
void check(bool right, const char* what) {
  if (!right) fail(what, "failed");
}
#define CHECK(call) check(call, #call)

sockaddr_in address_of(const char* host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(std::uint16_t(port));
  inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

int listener(const char* host, int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0), on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = address_of(host, port);
  CHECK(bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK(listen(socket, 16) == 0);
  return socket;
}

// Connects as soon as the other end listens.
int connected(const char* host, int port) {
  const sockaddr_in address = address_of(host, port);
  for (int tries = 0; tries < 600; ++tries, usleep(50000)) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return socket;
    close(socket);
  }
  fail("connect", host);
}

void send_all(int socket, const void* data, std::size_t bytes) {
  for (auto* at = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t sent = write(socket, at, bytes);
    CHECK(sent > 0);
    at += sent, bytes -= std::size_t(sent);
  }
}
void receive_all(int socket, void* data, std::size_t bytes) {
  for (auto* at = static_cast<char*>(data); bytes > 0;) {
    const ssize_t got = read(socket, at, bytes);
    CHECK(got > 0);
    at += got, bytes -= std::size_t(got);
  }
}

__host__ __device__ unsigned value(int rank, int i) {
  return unsigned(rank + 1) * 2654435761u ^ unsigned(i) * 40503u;
}
__global__ void fill(unsigned* mine, int rank) {
  for (int i = threadIdx.x; i < count; i += threads) mine[i] = value(rank, i);
}
__global__ void add(unsigned* sum, const unsigned* other) {
  for (int i = threadIdx.x; i < count; i += threads) sum[i] += other[i];
}
__global__ void copy(unsigned* to, const unsigned* from) {
  for (int i = threadIdx.x; i < count; i += threads) to[i] = from[i];
}
__global__ void compare(const unsigned* sum, int ranks, unsigned* wrong) {
  for (int i = threadIdx.x; i < count; i += threads) {
    unsigned right = 0;
    for (int rank = 0; rank < ranks; ++rank) right += value(rank, i);
    if (sum[i] != right) atomicAdd(wrong, 1);
  }
}

unsigned* device_memory(int elements) {
  unsigned* memory = nullptr;
  CHECK(cudaMalloc(&memory, elements * sizeof(unsigned)));
  CHECK(cudaMemset(memory, 0, elements * sizeof(unsigned)));
  return memory;
}

// Adds the other host's sum to `sum`.
void exchange(int host, unsigned* sum) {
  const int socket = host == 0 ? accept(listener(first_host, port_between), nullptr, nullptr)
                               : connected(first_host, port_between);
  CHECK(socket >= 0);
  std::vector<unsigned> mine(count), theirs(count);
  CHECK(cudaMemcpy(mine.data(), sum, count * sizeof(unsigned), cudaMemcpyDeviceToHost));
  send_all(socket, mine.data(), count * sizeof(unsigned));
  receive_all(socket, theirs.data(), count * sizeof(unsigned));
  unsigned* const other = device_memory(count);
  CHECK(cudaMemcpy(other, theirs.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice));
  add<<<1, threads>>>(sum, other);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(other));
  close(socket);
}

// The first process of a host sums in the memory of all, and stores the sum of both hosts there.
void lead(int host, int processes, unsigned* sum) {
  const int meeting = listener("127.0.0.1", port_in_host);
  std::vector<int> sockets;
  std::vector<unsigned*> others;
  for (int i = 1; i < processes; ++i) {
    sockets.push_back(accept(meeting, nullptr, nullptr));
    CHECK(sockets.back() >= 0);
    cudaIpcMemHandle_t handle;
    receive_all(sockets.back(), &handle, sizeof handle);
    void* opened = nullptr;
    CHECK(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess));
    others.push_back(static_cast<unsigned*>(opened));
    add<<<1, threads>>>(sum, others.back());
  }
  exchange(host, sum);
  for (unsigned* const other : others) copy<<<1, threads>>>(other, sum);
  CHECK(cudaDeviceSynchronize());
  for (unsigned* const other : others) CHECK(cudaIpcCloseMemHandle(other));
  const char done = 1;
  for (const int socket : sockets) send_all(socket, &done, 1);
}

void follow(unsigned* mine) {
  cudaIpcMemHandle_t handle;
  CHECK(cudaIpcGetMemHandle(&handle, mine));
  const int socket = connected("127.0.0.1", port_in_host);
  send_all(socket, &handle, sizeof handle);
  char done = 0;
  receive_all(socket, &done, 1);
}

}  // namespace

int main(int, char** words) {
  const int host = std::atoi(words[1]), process = std::atoi(words[2]),
            processes = std::atoi(words[3]);
  const int rank = host * processes + process;
  CHECK(cudaSetDevice(process));
  unsigned* const mine = device_memory(count);
  unsigned* const wrong = device_memory(1);
  fill<<<1, threads>>>(mine, rank);
  CHECK(cudaDeviceSynchronize());
  if (process == 0)
    lead(host, processes, mine);
  else
    follow(mine);
  compare<<<1, threads>>>(mine, hosts * processes, wrong);
  unsigned found = 0;
  CHECK(cudaMemcpy(&found, wrong, sizeof found, cudaMemcpyDeviceToHost));
  std::printf("host %d, process %d: %u of %d wrong\n", host, process, found, count);
  return found != 0;
}
