// Each copy of the runtime has last errors of its own, for each thread: a program and the shared
// objects that it loads, all with static runtimes, or objects that share one. With LIBRARY, it is
// such an object.
#ifdef LIBRARY
extern "C" int library_fail(int device) { return cudaSetDevice(device); }
extern "C" int library_peek() { return cudaPeekAtLastError(); }
extern "C" int library_last() { return cudaGetLastError(); }  // a jump, if the compiler makes one
extern "C" const char* library_text() { return cudaGetErrorString(cudaErrorInvalidValue); }
#else
#  include <dlfcn.h>

#  include <cstdio>
#  include <cstdlib>
#  include <thread>

struct Library {
  void* const handle;
  explicit Library(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle) std::puts(dlerror()), std::exit(1);
  }
  template <class... Arguments>
  auto call(const char* name, Arguments... arguments) const {
    return reinterpret_cast<int (*)(Arguments...)>(dlsym(handle, name))(arguments...);
  }
};

int main(int, char** arguments) {
  const Library a(arguments[1]), b(arguments[2]);
  const auto show = [&](const char* when) {
    std::printf("%s: %d %d %d\n", when, int(cudaPeekAtLastError()), a.call("library_peek"),
                b.call("library_peek"));
  };
  show("at first");
  a.call("library_fail", 77);
  show("one fails");
  void* none = nullptr;
  cudaMalloc(&none, ~std::size_t{0} / 2);
  show("the program fails");
  reinterpret_cast<const char* (*)()>(dlsym(b.handle, "library_text"))();
  cudaFree(&none);
  show("and again, after a text");
  std::thread(show, "another thread").join();
  std::printf("one's is %d\n", a.call("library_last"));
  show("one is asked");
  b.call("library_fail", 77);
  b.call("library_fail", 0);
  show("the other fails, and does not");
  std::printf("the program's is %d\n", int(cudaGetLastError()));
  show("the program is asked");
}
#endif
