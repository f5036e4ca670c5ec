// arch: sm_90
// Prints a GPU's results for textures and surfaces. One line per case: the read, a hash of all its
// results, and the first few of them. All inputs follow from seeds. The output of a real GPU is the
// reference for the software GPU's textures.
//
// nvcc -std=c++17 -arch=sm_90 -o texture_truth texture_truth.cu
//
// texture_truth [--only TEXT] [--results FILE | --dump FILE]
//   --only     the cases whose name contains TEXT
//   --results  also writes every result; --dump: and every coordinate
//
// A case that faults loses its CUDA context, so cases run in a child process, and a new one
// continues after it.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "texture/all_cases.hpp"
#include "texture/calls.hpp"
#include "texture/memory.hpp"
#include "texture/reads.cuh"
#include "texture/surfaces.cuh"
#include "texture/traps.cuh"

namespace texture_truth {

unsigned long long hash(const void* data, std::size_t bytes, unsigned long long h) {
  const auto* p = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) h = (h ^ p[i]) * 0x100000001b3;
  return h;
}
constexpr unsigned long long hash_start = 0xcbf29ce484222325;

template <class T>
T* device_array(const std::vector<T>& values) {
  T* p = nullptr;
  require(cudaMalloc(&p, values.size() * sizeof(T)), "cudaMalloc");
  require(cudaMemcpy(p, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  return p;
}
template <class T>
std::vector<T> take_back(T* p, std::size_t count) {
  std::vector<T> values(count);
  require(cudaMemcpy(values.data(), p, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  cudaFree(p);
  return values;
}

unsigned bits(float f) {
  unsigned u;
  std::memcpy(&u, &f, 4);
  return u;
}

struct Told {
  std::string only;
  std::FILE* results = nullptr;
  bool coordinates = false;
};

void read_case(const Case& c, const std::string& name, const Told& told) {
  const Memory memory(c.texture, c.read.gather >= 0 && c.texture.shape == Shape::plane
                                     ? cudaArrayTextureGather
                                     : 0);
  const cudaTextureObject_t texture = memory.texture();
  if (texture == 0) {
    std::printf("%s refused: %s\n", name.c_str(), cudaGetErrorName(cudaGetLastError()));
    return;
  }
  const std::vector<Point> points = points_of(c);
  Point* in = device_array(points);
  uint4* out = device_array(std::vector<uint4>(samples));
  kernel_of(c.read)<<<samples / 128, 128>>>(texture, in, out);
  require(cudaGetLastError(), name.c_str());
  require(cudaDeviceSynchronize(), name.c_str());
  const std::vector<uint4> results = take_back(out, samples);
  cudaFree(in);
  cudaDestroyTextureObject(texture);
  std::printf("%s %016llx :", name.c_str(),
              hash(results.data(), samples * sizeof(uint4), hash_start));
  for (int i = 0; i < samples; i += 128)
    std::printf(" %x,%x,%x,%x", results[i].x, results[i].y, results[i].z, results[i].w);
  std::printf("\n");
  if (!told.results) return;
  std::fprintf(told.results, "%s\n", name.c_str());
  for (int i = 0; i < samples; ++i) {
    const Point& p = points[i];
    if (told.coordinates)
      std::fprintf(told.results, "%x %x %x, %d %d %d, %d, %x, %x %x %x, %x %x %x = ", bits(p.at[0]),
                   bits(p.at[1]), bits(p.at[2]), p.texel[0], p.texel[1], p.texel[2], p.layer,
                   bits(p.level), bits(p.dx[0]), bits(p.dx[1]), bits(p.dx[2]), bits(p.dy[0]),
                   bits(p.dy[1]), bits(p.dy[2]));
    const uint4& r = results[i];
    std::fprintf(told.results, "%x %x %x %x\n", r.x, r.y, r.z, r.w);
  }
}

void surface_case(const SurfaceCase& c, const Told& told) {
  Texture t;
  t.shape = c.shape, t.format = c.format, t.texels = Texels::any;
  const bool flat = c.shape == Shape::line || c.shape == Shape::lines;
  t.width = 16, t.height = flat ? 1 : 6;
  t.depth = c.shape == Shape::line || c.shape == Shape::plane ? 1 : 4;
  const Memory memory(t, cudaArraySurfaceLoadStore);
  const cudaSurfaceObject_t surface = memory.surface();
  const std::vector<Access> list = accesses_of(c, t.width, t.height, t.depth);
  Access* in = device_array(list);
  uint4* out = device_array(std::vector<uint4>(accesses));
  c.kernel<<<1, 1>>>(surface, in, out);
  require(cudaGetLastError(), c.name);
  require(cudaDeviceSynchronize(), c.name);
  const std::vector<uint4> results = take_back(out, accesses);
  cudaFree(in);
  const std::vector<unsigned char> after = memory.contents();
  cudaDestroySurfaceObject(surface);
  const unsigned long long h = hash(results.data(), accesses * sizeof(uint4), hash_start);
  std::printf("%s %016llx %016llx\n", c.name, h, hash(after.data(), after.size(), hash_start));
  if (!told.results) return;
  std::FILE* const to = told.results;
  std::fprintf(to, "%s\n", c.name);
  for (int i = 0; i < accesses; ++i)
    std::fprintf(to, "%d %d %d, %d, %x %x %x %x = %x %x %x %x\n", list[i].x, list[i].y, list[i].z,
                 list[i].layer, list[i].value[0], list[i].value[1], list[i].value[2],
                 list[i].value[3], results[i].x, results[i].y, results[i].z, results[i].w);
  std::fprintf(to, "before");
  for (unsigned char b : texels_of(t, after.size() / static_cast<std::size_t>(t.format.bytes()), 0))
    std::fprintf(to, " %02x", b);
  std::fprintf(to, "\nafter");
  for (unsigned char b : after) std::fprintf(to, " %02x", b);
  std::fprintf(to, "\n");
}

// Runs in its own process, since it may end the context.
template <class Body>
void alone(const char* about, Body body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    Texture t;
    t.format = {'u', 32, 1};
    const Memory memory(t, cudaArraySurfaceLoadStore);
    unsigned* out = device_array(std::vector<unsigned>(1));
    body(memory, out);
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    std::printf("%s: %s", about, cudaGetErrorName(status));
    if (status == cudaSuccess) std::printf(" %x", take_back(out, 1)[0]);
    std::printf("\n");
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
}

void traps() {
  const auto trapping = [](const char* about, int sort, int x) {
    alone(about,
          [=](const Memory& m, unsigned* out) { trap<<<1, 1>>>(m.surface(), sort, x, out); });
  };
  trapping("suld.trap inside", 3, 8);
  trapping("suld.trap past the end", 0, 64);
  trapping("suld.trap before the start", 0, -4);
  trapping("suld.trap misaligned", 4, 2);
  trapping("sust.trap past the end", 1, 64);
  trapping("sured.trap past the end", 2, 64);
  alone("istypep of a texture",
        [](const Memory& m, unsigned* out) { type_of<<<1, 1>>>(m.texture(), out); });
  alone("istypep of a surface",
        [](const Memory& m, unsigned* out) { type_of<<<1, 1>>>(m.surface(), out); });
  alone("handle-of-0", [](const Memory&, unsigned* out) {
    read_handle<<<1, 1>>>(0, 0, reinterpret_cast<float*>(out));
  });
  alone("handle-destroyed", [](const Memory& m, unsigned* out) {
    const cudaTextureObject_t t = m.texture();
    cudaDestroyTextureObject(t);
    read_handle<<<1, 1>>>(t, 0, reinterpret_cast<float*>(out));
  });
  alone("handle-far-out", [](const Memory&, unsigned* out) {
    read_handle<<<1, 1>>>(0x123456789abcdef0, 0, reinterpret_cast<float*>(out));
  });
  alone("handle-of-a-surface", [](const Memory& m, unsigned* out) {
    read_handle<<<1, 1>>>(m.surface(), 0, reinterpret_cast<float*>(out));
  });
}

// Runs body(0) to body(count - 1) in a child process. After a fault, another continues.
template <class Body>
void each_in_child(std::size_t count, Body body) {
  constexpr int most_faults = 10;
  auto* next = static_cast<volatile std::size_t*>(mmap(
      nullptr, sizeof(std::size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  *next = 0;
  for (int faults = 0; *next < count && faults < most_faults; ++faults) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      while (*next < count) {
        const std::size_t now = *next;
        *next = now + 1;
        try {
          body(now);
        } catch (const Failure& f) {
          std::printf("%s %s\n", f.what.c_str(), cudaGetErrorName(f.status));
          cudaGetLastError();
        }
        std::fflush(nullptr);
        if (cudaDeviceSynchronize() != cudaSuccess) _exit(1);
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
  }
}

}  // namespace texture_truth

int main(int argc, char** argv) {
  using namespace texture_truth;
  Told told;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc || (option != "--only" && option != "--results" && option != "--dump"))
      return std::fprintf(stderr, "texture_truth [--only TEXT] [--results | --dump FILE]\n"), 1;
    if (option == "--only") {
      told.only = argv[i + 1];
    } else {
      told.results = std::fopen(argv[i + 1], "w");
      told.coordinates = option == "--dump";
      if (!told.results) return std::perror(argv[i + 1]), 1;
    }
  }
  if (told.only.empty()) {
    std::printf("# traps\n");
    traps();
    std::printf("# calls\n");
    each_in_child(1, [](std::size_t) { Calls().all(); });
  }
  std::printf("# textures\n");
  std::vector<Case> cases;
  for (const Case& c : all_cases())
    if (to_text(c).find(told.only) != std::string::npos) cases.push_back(c);
  each_in_child(cases.size(), [&](std::size_t i) { read_case(cases[i], to_text(cases[i]), told); });
  std::printf("# surfaces\n");
  std::vector<const SurfaceCase*> surfaces;
  for (const SurfaceCase* c = SurfaceRegistration::first(); c != nullptr; c = c->next)
    if (std::string(c->name).find(told.only) != std::string::npos) surfaces.push_back(c);
  each_in_child(surfaces.size(), [&](std::size_t i) { surface_case(*surfaces[i], told); });
}
