// arch: compute_90
// Prints a GPU's results for every form of the tensor cores' instructions. One line per form: its
// name and, for each mixture of values (tensor_core/numbers.hpp), a hash of the results of all its
// cases. A form that the driver's assembler refuses is marked so. Kernels are PTX text, loaded at
// run time.
//
//   nvcc -std=c++17 -arch=sm_90 -I. -o tensor_core_truth tests/gpu/tensor_core_truth.cu
//   ./tensor_core_truth                         all forms
//   ./tensor_core_truth --seed N                other cases
//   ./tensor_core_truth --only PREFIX           the forms whose name begins with PREFIX
//   ./tensor_core_truth --ptx                   prints the kernels instead
//   ./tensor_core_truth --record FILE           writes the results of the first cases to FILE
//   ./tensor_core_truth --against FILE          compares with such a file, value by value
#include <cuda_runtime_api.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "tensor_core/cases.hpp"
#include "tensor_core/mma_forms.hpp"
#include "tensor_core/text.hpp"
#include "tensor_core/wgmma_forms.hpp"
#include "tensor_core/wmma_forms.hpp"

std::vector<Form> all_forms() {
  std::vector<Form> all;
  mma_forms::dense(all);
  mma_forms::sparse(all);
  wmma_forms::all(all);
  wgmma_forms::all(all);
  return all;
}

namespace {

void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

struct Options {
  std::uint64_t seed = 1;
  std::string only, record, against;
  bool ptx = false;
};

int cases_of(const Form& f) { return f.kind == Kind::wgmma ? 8 : f.kind == Kind::wmma ? 32 : 128; }
// The number of recorded cases of each mixture.
int recorded_of(const Form& f) { return f.kind == Kind::wgmma ? (f.n > 64 ? 0 : 1) : 4; }

template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) {
    require(cudaMalloc(&at_, (count ? count : 1) * sizeof(T)), "cudaMalloc");
  }
  ~Buffer() { cudaFree(at_); }
  Buffer(const Buffer&) = delete;
  T* get() const { return at_; }

 private:
  T* at_ = nullptr;
};

std::vector<std::uint32_t> run(cudaKernel_t kernel, const Form& f, Mixture m, std::uint64_t seed) {
  const int cases = cases_of(f), in = in_words(f), out = out_words(f);
  std::vector<std::uint32_t> from(static_cast<std::size_t>(in) * cases),
      to(static_cast<std::size_t>(out) * cases);
  for (int i = 0; i < cases; ++i)
    make_case(f, {m, seed_of(f.name, seed, i * mixtures + static_cast<int>(m))},
              from.data() + i * in);
  Buffer<std::uint32_t> d_from(from.size()), d_to(to.size()), d_pool(text::pool_bytes / 4);
  require(cudaMemcpy(d_from.get(), from.data(), from.size() * 4, cudaMemcpyDefault), "cudaMemcpy");
  unsigned shared = 0;
  if (f.kind == Kind::wgmma) {
    const auto pool = pool_of(f, m, seed);
    require(cudaMemcpy(d_pool.get(), pool.data(), pool.size() * 4, cudaMemcpyDefault),
            "cudaMemcpy");
    shared = text::pool_bytes;
    require(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
            "cudaFuncSetAttribute");
  }
  std::uint32_t *p_from = d_from.get(), *p_to = d_to.get(), *p_pool = d_pool.get();
  unsigned in_bytes = in * 4u, out_bytes = out * 4u;
  void* arguments[] = {&p_from, &p_to, &in_bytes, &out_bytes, &p_pool};
  const unsigned threads = f.kind == Kind::wgmma ? 128 : 32;
  require(
      cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(static_cast<unsigned>(cases)),
                       dim3(threads), arguments, shared, nullptr),
      f.name.c_str());
  require(cudaDeviceSynchronize(), f.name.c_str());
  require(cudaMemcpy(to.data(), d_to.get(), to.size() * 4, cudaMemcpyDefault), "cudaMemcpy");
  return to;
}

std::uint64_t hash_of(const std::vector<std::uint32_t>& words) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const std::uint32_t w : words) h = (h ^ w) * 0x100000001b3, h ^= h >> 29;
  return h;
}

using Record = std::map<std::string, std::vector<std::uint32_t>>;

Record read_record(const std::string& path) {
  Record r;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) return r;
  char name[256];
  unsigned count;
  while (std::fscanf(file, "%255s %u", name, &count) == 2 && std::fgetc(file) == '\n') {
    auto& words = r[name];
    words.resize(count);
    if (std::fread(words.data(), 4, count, file) != count) break;
  }
  std::fclose(file);
  return r;
}

// Prints where the first results differ, and how many do.
void compare(const Form& f, const std::string& key, const std::vector<std::uint32_t>& ours,
             const std::vector<std::uint32_t>& theirs) {
  int wrong = 0;
  for (std::size_t i = 0; i < theirs.size() && i < ours.size(); ++i) {
    if (ours[i] == theirs[i]) continue;
    if (wrong++ >= 4) continue;
    const int at = static_cast<int>(i % static_cast<std::size_t>(out_words(f)));
    std::printf("  %s: case %d, lane %d, word %d: %08x, recorded %08x\n", key.c_str(),
                static_cast<int>(i) / out_words(f), at % lanes_of(f), at / lanes_of(f), ours[i],
                theirs[i]);
  }
  if (wrong) std::printf("  %s: %d of %zu differ\n", key.c_str(), wrong, theirs.size());
}

void run_form(const Form& f, const Options& options, std::FILE* record, const Record& against) {
  cudaLibrary_t library;
  const std::string ptx = text::of(f);
  cudaKernel_t kernel;
  // A library may be compiled only when its kernel is requested.
  if (cudaLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) !=
          cudaSuccess ||
      cudaLibraryGetKernel(&kernel, library, "form") != cudaSuccess) {
    std::printf("%s : refused\n", f.name.c_str());
    cudaGetLastError();
    return;
  }
  std::string line = f.name + " :";
  for (int m = 0; m < mixtures; ++m) {
    auto words = run(kernel, f, static_cast<Mixture>(m), options.seed);
    char text[24];
    std::snprintf(text, sizeof text, " %016" PRIx64, hash_of(words));
    line += text;
    const std::string key = f.name + "@" + mixture_names[m];
    words.resize(static_cast<std::size_t>(out_words(f)) * recorded_of(f));
    if (record && !words.empty()) {
      std::fprintf(record, "%s %zu\n", key.c_str(), words.size());
      std::fwrite(words.data(), 4, words.size(), record);
    }
    if (const auto found = against.find(key); found != against.end())
      compare(f, key, words, found->second);
  }
  std::printf("%s\n", line.c_str());
  require(cudaLibraryUnload(library), "cudaLibraryUnload");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--ptx") {
      options.ptx = true;
      continue;
    }
    ++i;
    if (option == "--seed")
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    else if (option == "--only")
      options.only = value;
    else if (option == "--record")
      options.record = value;
    else if (option == "--against")
      options.against = value;
    else
      return std::fprintf(stderr, "no option is called %s\n", option.c_str()), 2;
  }
  const Record against = read_record(options.against);
  std::FILE* record = options.record.empty() ? nullptr : std::fopen(options.record.c_str(), "wb");
  for (const Form& f : all_forms()) {
    if (f.name.compare(0, options.only.size(), options.only) != 0) continue;
    if (options.ptx)
      std::printf("// %s\n%s\n", f.name.c_str(), text::of(f).c_str());
    else
      run_form(f, options, record, against);
  }
  if (record) std::fclose(record);
}
