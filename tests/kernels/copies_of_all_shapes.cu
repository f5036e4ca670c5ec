// cudaMemcpy and cudaMemset in every form: directions, pitches, boxes, symbols, asynchronous
// copies, peers.
#include "tests/kernels/kernel_test.cuh"

__device__ int symbol[64];
__constant__ int constants[16];

int main() {
  std::vector<int> in(64 * 32), out(64 * 32, -1);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = int(i * 7 % 1000);

  // Rows of 40 ints from rows of 64, into pitched memory and back.
  int* pitched;
  std::size_t pitch;
  CHECK(cudaMallocPitch(&pitched, &pitch, 50 * sizeof(int), 32));
  std::printf("pitch %% 512: %zu\n", pitch % 512);
  CHECK(cudaMemset2D(pitched, pitch, 0xff, 50 * sizeof(int), 32));
  CHECK(cudaMemcpy2D(pitched, pitch, in.data() + 3, 64 * sizeof(int), 40 * sizeof(int), 30,
                     cudaMemcpyHostToDevice));
  CHECK(cudaMemset2D(pitched + 4, pitch, 1, 2 * sizeof(int), 5));
  CHECK(cudaMemcpy2D(out.data(), 64 * sizeof(int), pitched, pitch, 50 * sizeof(int), 32,
                     cudaMemcpyDeviceToHost));
  print_checksum("2-D", out);
  print("a row", std::vector<int>(out.begin() + 64, out.begin() + 64 + 50), 64);

  cudaPitchedPtr box;
  cudaExtent extent = make_cudaExtent(20 * sizeof(int), 8, 6);
  CHECK(cudaMalloc3D(&box, extent));
  CHECK(cudaMemset3D(box, 0, extent));
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(in.data(), 64 * sizeof(int), 16, 8);
  p.dstPtr = box;
  p.srcPos = make_cudaPos(2 * sizeof(int), 1, 0);
  p.dstPos = make_cudaPos(sizeof(int), 2, 3);
  p.extent = make_cudaExtent(10 * sizeof(int), 5, 2);
  p.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&p));
  std::vector<int> cube(20 * 8 * 6, -1);
  cudaMemcpy3DParms back{};
  back.srcPtr = box;
  back.dstPtr = make_cudaPitchedPtr(cube.data(), 20 * sizeof(int), 20, 8);
  back.extent = extent;
  back.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&back));
  print_checksum("3-D", cube);

  CHECK(cudaMemcpyToSymbol(symbol, in.data(), 32 * sizeof(int), 8 * sizeof(int)));
  CHECK(cudaMemcpyToSymbol(constants, in.data() + 5, sizeof constants));
  std::vector<int> small(64);
  CHECK(cudaMemcpyFromSymbol(small.data(), symbol, 64 * sizeof(int)));
  print("symbol", small, 32);
  CHECK(cudaMemcpyFromSymbol(small.data(), constants, 16 * sizeof(int)));
  print("constants", std::vector<int>(small.begin(), small.begin() + 16));

  // Pinned memory, asynchronously, with the direction inferred from the pointers.
  int* pinned;
  CHECK(cudaMallocHost(&pinned, 1024));
  int* device;
  CHECK(cudaMalloc(&device, 1024));
  for (int i = 0; i < 256; ++i) pinned[i] = i * i;
  CHECK(cudaMemcpyAsync(device, pinned, 1024, cudaMemcpyDefault, 0));
  CHECK(cudaMemcpyAsync(device + 128, device, 256, cudaMemcpyDefault, 0));
  CHECK(cudaMemsetAsync(device + 10, 0xab, 12, 0));
  CHECK(cudaMemcpyAsync(pinned, device, 1024, cudaMemcpyDefault, 0));
  CHECK(cudaStreamSynchronize(0));
  print_checksum("pinned", std::vector<int>(pinned, pinned + 256));
  CHECK(cudaMemcpyPeer(device, 0, device + 64, 0, 128));

  SAY(cudaMemcpy(device, in.data(), 16, (cudaMemcpyKind)77));
  SAY(cudaMemcpy(nullptr, in.data(), 16, cudaMemcpyHostToDevice));
  SAY(cudaMemcpy(nullptr, in.data(), 0, cudaMemcpyHostToDevice));
  SAY(cudaMemcpyToSymbol(symbol, in.data(), sizeof symbol + 4));
  SAY(cudaMemcpy2D(pitched, 100, in.data(), 256, 200, 3, cudaMemcpyHostToDevice));
  SAY(cudaMemset(in.data(), 0, 16));
  SAY(cudaGetLastError());

  cudaPointerAttributes a;
  CHECK(cudaPointerGetAttributes(&a, device + 3));
  std::printf("device memory: type %d, device %d, same address %d\n", a.type, a.device,
              a.devicePointer == device + 3);
  CHECK(cudaPointerGetAttributes(&a, pinned));
  std::printf("pinned: type %d\n", a.type);
  CHECK(cudaPointerGetAttributes(&a, in.data()));
  std::printf("plain: type %d\n", a.type);
}
