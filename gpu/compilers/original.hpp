// Finds NVIDIA's own library of the same name as a stand-in, where the program would have found it.
#pragma once
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace inflight::compilers {

// The folders to search, in order: the search paths of every loaded object (with LD_LIBRARY_PATH
// and the system's folders), NVIDIA's wheels beside loaded Python packages, VIRTUAL_ENV,
// CONDA_PREFIX, the wheels of the running Python, CUDA_HOME, CUDA_PATH, the folders in
// /etc/ld.so.conf and ld.so.conf.d, /usr/local/cuda and /usr/local/cuda-*.
std::vector<std::string> library_folders();

class Original {
 public:
  // `soname`: for example libnvrtc.so.13. `wheel`: the Python package that contains it, for the
  // message if it is missing.
  Original(std::string soname, std::string wheel)
      : soname_(std::move(soname)), wheel_(std::move(wheel)) {}

  bool found();
  // The function `name` of type F. Null if the library or the function is missing, which is then
  // reported once on standard error.
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
