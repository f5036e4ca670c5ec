// NVIDIA's own library of the name that a stand-in bears, found where the program would have found
// it.
#pragma once
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace inflight::compilers {

// The folders in which the program's loader, its Python packages and the CUDA toolkit keep
// libraries, in the order of search: those of every loaded object with LD_LIBRARY_PATH and the
// system's, the wheels of NVIDIA beside loaded Python packages and in the running Python's
// environment, CUDA_HOME, CUDA_PATH, what /etc/ld.so.conf names, /usr/local/cuda.
std::vector<std::string> library_folders();

class Original {
 public:
  // `soname` as in libnvrtc.so.13; `wheel`, the Python package that holds it, is for the sentence
  // that says it is missing.
  Original(std::string soname, std::string wheel)
      : soname_(std::move(soname)), wheel_(std::move(wheel)) {}

  bool found();
  // The function of type F, or null; then a sentence on standard error has said, once, that the
  // library or this function of it is missing.
  template <class F>
  F* function(const char* name) {
    return reinterpret_cast<F*>(find(name));
  }

 private:
  void* find(const char* name);
  void load();
  bool open(const std::filesystem::path& path);

  std::string soname_, wheel_;
  std::once_flag once_;
  std::string path_;
  void* handle_ = nullptr;
  std::size_t searched_ = 0;
};

}  // namespace inflight::compilers
