// Loads libnvrtc by a path to NVIDIA's library. It gets the replacement, which uses that library.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

int main(int, char** words) {
  void* library = dlopen(words[1], RTLD_NOW);
  if (!library) return std::printf("FAIL: %s\n", dlerror()), 1;
  auto* version = reinterpret_cast<int (*)(int*, int*)>(dlsym(library, "nvrtcVersion"));
  Dl_info info{};
  if (!version || !dladdr(reinterpret_cast<void*>(version), &info))
    return std::puts("FAIL: no name"), 1;
  if (std::strcmp(info.dli_fname, words[1]) == 0) return std::puts("FAIL: no stand-in"), 1;
  int major = 0, minor = 0;
  const int status = version(&major, &minor);
  std::printf("%s: status %d, version %d.%d\n", info.dli_fname, status, major, minor);
  return status == 0 && major == 77 && minor == 7 ? 0 : 1;
}
