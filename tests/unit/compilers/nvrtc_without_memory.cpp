// Calls libnvrtc while the host has no memory. No exception leaves it.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

static bool exhausted = false;

void* operator new(std::size_t bytes) {
  void* const made = exhausted ? nullptr : std::malloc(bytes ? bytes : 1);
  if (!made) throw std::bad_alloc();
  return made;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

template <class F>
static F* function(void* library, const char* name) {
  auto* found = reinterpret_cast<F*>(dlsym(library, name));
  if (!found) std::printf("FAIL: no %s\n", name), std::exit(1);
  return found;
}

int main(int, char** words) {
  void* library = dlopen(words[1], RTLD_NOW);
  if (!library) return std::printf("FAIL: %s\n", dlerror()), 1;
  auto* text_of = function<const char*(int)>(library, "nvrtcGetErrorString");
  auto* version = function<int(int*, int*)>(library, "nvrtcVersion");
  auto* destroy = function<int(void**)>(library, "nvrtcDestroyProgram");
  auto* size = function<int(void*, std::size_t*)>(library, "nvrtcGetCUBINSize");
  auto* image = function<int(void*, char*)>(library, "nvrtcGetCUBIN");
  int major = 0, minor = 0;
  std::size_t bytes = 0;
  char byte = 0;
  void* program = &byte;
  exhausted = true;
  const char* text = text_of(1);
  const int results[] = {version(&major, &minor), destroy(&program), size(program, &bytes),
                         image(program, &byte)};
  exhausted = false;
  if (!text || !*text) return std::puts("FAIL: no text"), 1;
  for (int result : results)
    if (result != 1) return std::printf("FAIL: %d is not NVRTC_ERROR_OUT_OF_MEMORY\n", result), 1;
  std::printf("%s\n", text);
}
