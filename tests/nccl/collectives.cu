// Every collective of NCCL over ranks in one or several processes on one or several hosts, compared
// with the expected results for each type and several sizes.
//
//   collectives RANKS FIRST COUNT ID [TYPES]
//
// This process has COUNT of the RANKS, from number FIRST on, on devices of those numbers (less
// FIRST if DEVICES_FROM_0 is set). The process with rank 0 writes the communicator's id to the file
// ID, and the others wait for it. With WINDOWS set, buffers are symmetric windows, for which NCCL
// has its own kernels from 2.27 on. TYPES is a list such as "f32,i32". The default is all types of
// the build. Types that ONLY_FUNCS left out do nothing when called, and are named.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <functional>

#include "tests/nccl/meeting.hpp"

namespace {

struct Rank {
  int number, device;
  ncclComm_t comm;
  cudaStream_t stream;
};

// Small whole numbers, so that their sums are exact in every type and order.
template <class T>
T value(int rank, size_t i) {
  return T(float((i + 3 * rank) % 4));
}

// A collective: its element counts, its call, and the value that rank r must have at i.
template <class T>
struct Collective {
  const char* name;
  std::function<size_t(size_t n, int ranks)> sent, received;
  std::function<ncclResult_t(const Rank&, const T* in, T* out, size_t n, ncclDataType_t, int ranks)>
      call;
  std::function<bool(int rank, int ranks, size_t n)> receives;
  std::function<T(int rank, size_t i, size_t n, int ranks)> wanted;
};

template <class T>
T sum(size_t i, int ranks) {
  float all = 0;
  for (int r = 0; r < ranks; ++r) all += float(value<T>(r, i));
  return T(all);
}

template <class T>
std::vector<Collective<T>> collectives() {
  const auto one = [](size_t n, int) { return n; };
  const auto each = [](size_t n, int ranks) { return n * ranks; };
  const auto all = [](int, int, size_t) { return true; };
  const auto at_root = [](int rank, int ranks, size_t) { return rank == ranks - 1; };
  using In = const T*;
  return {
      {"all_reduce", one, one,
       [](const Rank& r, In in, T* out, size_t n, ncclDataType_t type, int) {
         return ncclAllReduce(in, out, n, type, ncclSum, r.comm, r.stream);
       },
       all, [](int, size_t i, size_t, int ranks) { return sum<T>(i, ranks); }},
      {"reduce", one, one,
       [](const Rank& r, In in, T* out, size_t n, ncclDataType_t type, int ranks) {
         return ncclReduce(in, out, n, type, ncclSum, ranks - 1, r.comm, r.stream);
       },
       at_root, [](int, size_t i, size_t, int ranks) { return sum<T>(i, ranks); }},
      {"broadcast", one, one,
       [](const Rank& r, In in, T* out, size_t n, ncclDataType_t type, int ranks) {
         return ncclBroadcast(in, out, n, type, ranks - 1, r.comm, r.stream);
       },
       all, [](int, size_t i, size_t, int ranks) { return value<T>(ranks - 1, i); }},
      {"all_gather", one, each,
       [](const Rank& r, In in, T* out, size_t n, ncclDataType_t type, int) {
         return ncclAllGather(in, out, n, type, r.comm, r.stream);
       },
       all, [](int, size_t i, size_t n, int) { return value<T>(int(i / n), i % n); }},
      {"reduce_scatter", each, one,
       [](const Rank& r, In in, T* out, size_t n, ncclDataType_t type, int) {
         return ncclReduceScatter(in, out, n, type, ncclSum, r.comm, r.stream);
       },
       all, [](int rank, size_t i, size_t n, int ranks) { return sum<T>(rank * n + i, ranks); }},
      {"all_to_all", each, each,
       [](const Rank& r, In in, T* out, size_t n, ncclDataType_t type, int ranks) {
         ncclGroupStart();
         for (int peer = 0; peer < ranks; ++peer) {
           CHECK(ncclSend(in + peer * n, n, type, peer, r.comm, r.stream));
           CHECK(ncclRecv(out + peer * n, n, type, peer, r.comm, r.stream));
         }
         return ncclGroupEnd();
       },
       all,
       [](int rank, size_t i, size_t n, int) { return value<T>(int(i / n), rank * n + i % n); }},
      {"send_recv", one, one,
       [](const Rank& r, In in, T* out, size_t n, ncclDataType_t type, int ranks) {
         ncclGroupStart();
         CHECK(ncclSend(in, n, type, (r.number + 1) % ranks, r.comm, r.stream));
         CHECK(ncclRecv(out, n, type, (r.number + ranks - 1) % ranks, r.comm, r.stream));
         return ncclGroupEnd();
       },
       all,
       [](int rank, size_t i, size_t, int ranks) {
         return value<T>((rank + ranks - 1) % ranks, i);
       }},
  };
}

constexpr int fill = 0x7f;  // each byte of memory that nothing has written

template <class T>
bool differ(const T& a, const T& b) {
  return memcmp(&a, &b, sizeof(T)) != 0;
}

// A buffer of each of this process's ranks, registered as a window if WINDOWS is set.
template <class T>
class Buffers {
 public:
  Buffers(const std::vector<Rank>& mine, size_t count) : mine_(mine), at_(mine.size()) {
    for (size_t k = 0; k < mine.size(); ++k) {
      CHECK(cudaSetDevice(mine[k].device));
      if (symmetric_)
        CHECK(ncclMemAlloc((void**)&at_[k], count * sizeof(T)));
      else
        CHECK(cudaMalloc(&at_[k], count * sizeof(T)));
    }
    if (!symmetric_) return;
    windows_.resize(mine.size());
    each_window([&](size_t k) {
      return ncclCommWindowRegister(mine[k].comm, at_[k], count * sizeof(T), &windows_[k],
                                    NCCL_WIN_COLL_SYMMETRIC);
    });
  }
  ~Buffers() {
    if (symmetric_)
      each_window([&](size_t k) { return ncclCommWindowDeregister(mine_[k].comm, windows_[k]); });
    for (size_t k = 0; k < mine_.size(); ++k) {
      CHECK(cudaSetDevice(mine_[k].device));
      if (symmetric_)
        CHECK(ncclMemFree(at_[k]));
      else
        CHECK(cudaFree(at_[k]));
    }
  }
  Buffers(const Buffers&) = delete;
  T* operator[](size_t k) const { return at_[k]; }

 private:
  template <class F>
  void each_window(F f) {
    CHECK(ncclGroupStart());
    for (size_t k = 0; k < mine_.size(); ++k) {
      CHECK(cudaSetDevice(mine_[k].device));
      CHECK(f(k));
    }
    CHECK(ncclGroupEnd());
  }
  const bool symmetric_ = getenv("WINDOWS");
  const std::vector<Rank>& mine_;
  std::vector<T*> at_;
  std::vector<ncclWindow_t> windows_;
};

struct Result {
  long wrong = 0, written = 0;  // elements that ranks of this process receive
};

template <class T>
Result result_of(const Collective<T>& c, const std::vector<Rank>& mine, int ranks, size_t n,
                 ncclDataType_t type) {
  const size_t sent = c.sent(n, ranks), received = c.received(n, ranks);
  const Buffers<T> in(mine, sent), out(mine, received);
  std::vector<T> host(std::max(sent, received));
  for (size_t k = 0; k < mine.size(); ++k) {
    CHECK(cudaSetDevice(mine[k].device));
    for (size_t i = 0; i < sent; ++i) host[i] = value<T>(mine[k].number, i);
    CHECK(cudaMemcpy(in[k], host.data(), sent * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out[k], fill, received * sizeof(T)));
    CHECK(cudaDeviceSynchronize());  // the collective runs in its own stream
  }
  CHECK(ncclGroupStart());
  for (size_t k = 0; k < mine.size(); ++k) {
    CHECK(cudaSetDevice(mine[k].device));
    CHECK(c.call(mine[k], in[k], out[k], n, type, ranks));
  }
  CHECK(ncclGroupEnd());
  Result result;
  T unwritten;
  memset(&unwritten, fill, sizeof unwritten);
  for (size_t k = 0; k < mine.size(); ++k) {
    CHECK(cudaSetDevice(mine[k].device));
    CHECK(cudaStreamSynchronize(mine[k].stream));
    CHECK(cudaMemcpy(host.data(), out[k], received * sizeof(T), cudaMemcpyDeviceToHost));
    if (c.receives(mine[k].number, ranks, n))
      for (size_t i = 0; i < received; ++i) {
        result.wrong += differ(host[i], c.wanted(mine[k].number, i, n, ranks));
        result.written += differ(host[i], unwritten);
      }
  }
  return result;
}

struct Count {
  int right = 0, wrong = 0;
};

// Runs all sizes. `optional`: the build may lack the collective.
template <class T>
void run(const Collective<T>& c, const char* name, ncclDataType_t type, bool optional,
         const std::vector<Rank>& mine, int ranks, Count& count) {
  for (const size_t n : {size_t(1), size_t(13), size_t(4096), size_t(100003)}) {
    const Result result = result_of<T>(c, mine, ranks, n, type);
    if (optional && result.wrong && !result.written) {
      printf("%s of %zu %s: this build of NCCL has none\n", c.name, n, name);
      continue;
    }
    result.wrong ? ++count.wrong : ++count.right;
    if (result.wrong)
      printf("%s of %zu %s: %ld elements are wrong\n", c.name, n, name, result.wrong);
  }
}

template <class T>
void run(const char* name, ncclDataType_t type, const std::string& types,
         const std::vector<Rank>& mine, int ranks, Count& count) {
  if (!types.empty() &&
      ("," + types + ",").find(std::string(",") + name + ",") == std::string::npos)
    return;
  for (const Collective<T>& c : collectives<T>())
    run(c, name, type, types.empty(), mine, ranks, count);
}

}  // namespace

int main(int, char** words) {
  const Job job{atoi(words[1]), atoi(words[2]), atoi(words[3])};
  const std::string types = words[5] ? words[5] : "";
  const int base = getenv("DEVICES_FROM_0") ? job.first : 0;
  const ncclUniqueId id = meet(job, words[4]);
  std::vector<Rank> mine(job.count);
  CHECK(ncclGroupStart());
  for (int k = 0; k < job.count; ++k) {
    Rank& rank = mine[k];
    rank.number = job.first + k;
    rank.device = rank.number - base;
    CHECK(cudaSetDevice(rank.device));
    CHECK(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking));
    CHECK(ncclCommInitRank(&rank.comm, job.ranks, id, rank.number));
  }
  CHECK(ncclGroupEnd());
  Count count;
  run<int8_t>("i8", ncclInt8, types, mine, job.ranks, count);
  run<uint8_t>("u8", ncclUint8, types, mine, job.ranks, count);
  run<int32_t>("i32", ncclInt32, types, mine, job.ranks, count);
  run<uint32_t>("u32", ncclUint32, types, mine, job.ranks, count);
  run<int64_t>("i64", ncclInt64, types, mine, job.ranks, count);
  run<uint64_t>("u64", ncclUint64, types, mine, job.ranks, count);
  run<__half>("f16", ncclFloat16, types, mine, job.ranks, count);
  run<float>("f32", ncclFloat32, types, mine, job.ranks, count);
  run<double>("f64", ncclFloat64, types, mine, job.ranks, count);
  run<__nv_bfloat16>("bf16", ncclBfloat16, types, mine, job.ranks, count);
  for (const Rank& rank : mine) CHECK(ncclCommDestroy(rank.comm));
  printf("ranks %d to %d of %d: %d right, %d wrong\n", job.first, job.first + job.count - 1,
         job.ranks, count.right, count.wrong);
  return count.wrong != 0 || count.right == 0;
}
