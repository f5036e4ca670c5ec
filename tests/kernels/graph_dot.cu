// flags: -arch=sm_90
// cudaGraphDebugDotPrint: every kind of node, with and without flags. Addresses are left out.
#include <cuda_runtime.h>

#include <cstdio>
#include <regex>
#include <string>
#include <unistd.h>

__global__ void first(int* p, int v) { *p = v; }
template <class T>
__global__ void second(T* p) {
  *p += 1;
}
void CUDART_CB host(void*) {}
void show(cudaGraph_t g, unsigned flags, const char* what) {
  const std::string path = "/tmp/graph_dot." + std::to_string(getpid());
  const int r = cudaGraphDebugDotPrint(g, path.c_str(), flags);
  printf("=== %s flags %u: %d\n", what, flags, r);
  std::string text;
  if (FILE* f = fopen(path.c_str(), "r")) {
    char part[4096];
    while (size_t n = fread(part, 1, sizeof part, f)) text.append(part, n);
    fclose(f);
  }
  remove(path.c_str());
  text = std::regex_replace(text, std::regex("0x(?!0{16})[0-9A-F]{16}"), "ADDRESS");
  text = std::regex_replace(text, std::regex("Handle\\|[0-9]+"), "Handle|NUMBER");
  fputs(text.c_str(), stdout);
}
int main() {
  int *a, *b;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  static int h[1024];
  cudaGraph_t g;
  cudaGraphCreate(&g, 0);
  show(g, 0, "empty graph");
  cudaGraphNode_t k1, k2, ms, mc, mh, em, ho, ch, er, ew, al, fr;
  int v = 3;
  void* a1[] = {&a, &v};
  void* a2[] = {&a};
  cudaKernelNodeParams p{};
  p.func = (void*)first;
  p.gridDim = dim3(2, 3, 1);
  p.blockDim = dim3(32, 2, 1);
  p.sharedMemBytes = 64;
  p.kernelParams = a1;
  cudaGraphAddKernelNode(&k1, g, nullptr, 0, &p);
  p.func = (void*)second<int>;
  p.gridDim = 1;
  p.blockDim = 1;
  p.sharedMemBytes = 0;
  p.kernelParams = a2;
  cudaGraphAddKernelNode(&k2, g, &k1, 1, &p);
  show(g, 0, "two kernels");
  show(g, 1, "two kernels");
  for (unsigned f :
       {2u, 4u, 8u, 16u, 32u, 64u, 128u, 256u, 512u, 1024u, 2048u, 4096u, 8192u, 16384u, 32768u})
    show(g, f, "two kernels");
  cudaMemsetParams s{};
  s.dst = b;
  s.value = 7;
  s.elementSize = 4;
  s.width = 16;
  s.height = 1;
  s.pitch = 64;
  cudaGraphAddMemsetNode(&ms, g, &k1, 1, &s);
  cudaGraphAddMemcpyNode1D(&mc, g, &ms, 1, b, a, 256, cudaMemcpyDeviceToDevice);
  cudaGraphAddMemcpyNode1D(&mh, g, &mc, 1, h, a, 256, cudaMemcpyDeviceToHost);
  cudaGraphAddEmptyNode(&em, g, &k2, 1);
  cudaHostNodeParams hp{};
  hp.fn = host;
  hp.userData = h;
  cudaGraphAddHostNode(&ho, g, &em, 1, &hp);
  cudaGraph_t c;
  cudaGraphCreate(&c, 0);
  cudaGraphNode_t in;
  cudaGraphAddEmptyNode(&in, c, nullptr, 0);
  cudaGraphAddChildGraphNode(&ch, g, &ho, 1, c);
  cudaEvent_t e;
  cudaEventCreate(&e);
  cudaGraphAddEventRecordNode(&er, g, &ch, 1, e);
  cudaGraphAddEventWaitNode(&ew, g, &er, 1, e);
  show(g, 0, "all");
  show(g, 1, "all");
  cudaGraph_t q;
  cudaGraphCreate(&q, 0);
  cudaMemAllocNodeParams m{};
  m.poolProps.allocType = cudaMemAllocationTypePinned;
  m.poolProps.location.type = cudaMemLocationTypeDevice;
  m.bytesize = 1000;
  cudaGraphAddMemAllocNode(&al, q, nullptr, 0, &m);
  cudaGraphAddMemFreeNode(&fr, q, &al, 1, m.dptr);
  cudaGraphConditionalHandle hd;
  cudaGraphConditionalHandleCreate(&hd, q, 1, cudaGraphCondAssignDefault);
  cudaGraphNodeParams cp{};
  cp.type = cudaGraphNodeTypeConditional;
  cp.conditional.handle = hd;
  cp.conditional.type = cudaGraphCondTypeWhile;
  cp.conditional.size = 1;
  cudaGraphNode_t cn;
  cudaGraphAddNode(&cn, q, &fr, nullptr, 1, &cp);
  show(q, 0, "memory and a condition");
  show(q, 1, "memory and a condition");
  cudaStream_t st;
  cudaStreamCreate(&st);
  cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal);
  first<<<1, 32, 0, st>>>(a, 1);
  cudaGraph_t cap;
  cudaLaunchConfig_t lc{};
  lc.gridDim = 1;
  lc.blockDim = 32;
  lc.stream = st;
  cudaLaunchAttribute at[1];
  at[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  at[0].val.programmaticStreamSerializationAllowed = 1;
  lc.attrs = at;
  lc.numAttrs = 1;
  cudaLaunchKernelEx(&lc, first, a, 2);
  cudaStreamEndCapture(st, &cap);
  show(cap, 0, "captured, programmatic");
  show(cap, 1, "captured, programmatic");
  printf("%d %d %d\n", cudaGraphDebugDotPrint(g, nullptr, 0),
         cudaGraphDebugDotPrint(g, "/nowhere/x.dot", 0),
         cudaGraphDebugDotPrint(g, "/dev/null", 1u << 30));
}
