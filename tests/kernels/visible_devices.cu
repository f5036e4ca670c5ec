// alone: it starts its own file under another name
// software-only
// options: --devices 3
// flags: -lcuda
// CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER as an H200's driver reads them; CUDA_LAUNCH_BLOCKING.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kernels/kernel_test.cuh"

std::string uuid(int device) {
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, device));
  std::string text = "GPU";
  char digits[3];
  for (int i = 0; i < 16; ++i) {
    std::snprintf(digits, sizeof digits, "%02x", (unsigned char)p.uuid.bytes[i]);
    text += (i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits);
  }
  return text;
}

// The bus of each visible device. The machine's devices have buses 1, 2, 3.
// NVML sees all devices, whatever the variables are.
unsigned management_count() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  unsigned count = 0;
  auto init = (int (*)())dlsym(library, "nvmlInit_v2");
  auto get = (int (*)(unsigned*))dlsym(library, "nvmlDeviceGetCount_v2");
  return init() == 0 && get(&count) == 0 ? count : 0;
}

void tell_devices() {
  int count = -7, driver = -7;
  std::printf("cuInit %d, ", int(cuInit(0)));
  std::printf("cuDeviceGetCount %d, ", int(cuDeviceGetCount(&driver)));
  std::printf("cudaGetDeviceCount %d, ", int(cudaGetDeviceCount(&count)));
  std::printf("cudaFree %d, ", int(cudaFree(nullptr)));
  std::printf("NVML %u:", management_count());
  for (int i = 0; i < count; ++i) {
    CHECK(cudaSetDevice(i));
    char bus[20], driver_bus[20];
    cudaDeviceProp p;
    int attribute = 0, back = -1;
    CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, i));
    CHECK(cudaGetDeviceProperties(&p, i));
    CHECK(cudaDeviceGetAttribute(&attribute, cudaDevAttrPciBusId, i));
    CHECK(cudaDeviceGetByPCIBusId(&back, bus));
    cuDeviceGetPCIBusId(driver_bus, sizeof driver_bus, i);
    const bool same = p.pciBusID == attribute && back == i && !std::strcmp(bus, driver_bus);
    std::printf(" %s%s", bus, same ? "" : " (others disagree)");
  }
  std::printf("\n");
}

__global__ void fails() { asm("trap;"); }

void tell_blocking() {
  fails<<<1, 1>>>();
  std::printf("the launch: %s\n", cudaGetErrorName(cudaGetLastError()));
}

// Runs this program again, in its own process, with a variable.
void run(const char* name, const std::string& value, const char* what = "devices") {
  std::printf("%s='%s': ", name, value.c_str());
  std::fflush(stdout);
  if (const pid_t child = fork()) {
    waitpid(child, nullptr, 0);
    return;
  }
  setenv(name, value.c_str(), 1);
  if (!std::strcmp(what, "blocking")) std::freopen("/dev/null", "w", stderr);
  execl("/proc/self/exe", "visible_devices", what, nullptr);
  _exit(3);
}

int main(int argc, char** argv) {
  if (argc > 1 && !std::strcmp(argv[1], "blocking")) return tell_blocking(), 0;
  if (argc > 1 && !std::strcmp(argv[1], "uuid")) return std::printf("%s\n", uuid(0).c_str()), 0;
  if (argc > 1) return tell_devices(), 0;
  // A process that uses CUDA must not fork, so a child prints the second device's UUID.
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  FILE* pipe = popen("/proc/$PPID/exe uuid", "r");
  char second[64] = {};
  if (!pipe || std::fscanf(pipe, "%63s", second) != 1) return 4;
  pclose(pipe);
  unsetenv("CUDA_VISIBLE_DEVICES");
  const char* lists[] = {"",   "0",     "2,0",  "0,1,2",  "1,1",   "0,-1,1",    "-1",
                         "7",  "0,7,1", "abc",  "0x1",    " 2",    "1 ,0",      "0a",
                         ",0", "0,,1",  "GPU-", "0,GPU-", "MIG-0", "NoDevFiles"};
  for (const char* list : lists) run("CUDA_VISIBLE_DEVICES", list);
  const std::string u = second;
  std::string capitals = u;
  for (char& c : capitals) c = char(std::toupper(c));
  for (const std::string& list :
       {u, u.substr(0, 8), capitals, u + "x", u.substr(4), u + ",0", "0," + u, u + "," + u})
    run("CUDA_VISIBLE_DEVICES", list);
  for (const char* order : {"PCI_BUS_ID", "FASTEST_FIRST", "nonsense", ""})
    run("CUDA_DEVICE_ORDER", order);
  run("CUDA_LAUNCH_BLOCKING", "0", "blocking");
  run("CUDA_LAUNCH_BLOCKING", "1", "blocking");
}
