// A program without CUDA that loads shared objects with static runtimes. Both use the same memory,
// and each may be closed and loaded again.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** arguments) {
  int* memory = nullptr;
  for (int round = 0; round < 3; ++round) {
    for (int i = 1; i <= 2; ++i) {
      void* library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
      if (!library) return std::puts(dlerror()), 1;
      auto* make = reinterpret_cast<int* (*)(int)>(dlsym(library, "extension_make"));
      auto* add = reinterpret_cast<int (*)(int*, int)>(dlsym(library, "extension_add"));
      if (!memory) memory = make(8);
      std::printf("%d\n", add(memory, 8));
      if (dlclose(library) != 0) return 1;
    }
  }
}
