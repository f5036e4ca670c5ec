// Cases of work in streams: `order_of_work` and `graph`.
#pragma once
#include "tests/gpu/curand/values.cuh"

namespace {

// `order_of_work`: which calls return before the stream's earlier work has ended.
__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}
void order_of_work(const Kind& k, bool host) {
  const std::string name = std::string("work.") + k.name + "." + place(host) + ".";
  if (!wanted(name)) return;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const auto busy = [&](const char* what, int status) {
    say(name + what, status);
    say(name + what + "_returns_early", cudaStreamQuery(stream) == cudaErrorNotReady);
    cudaStreamSynchronize(stream);
  };
  Generator g(host, k.type);
  char* p = host ? on_host : on_device;
  const long long cycles = 300'000'000;
  spin<<<1, 1, 0, stream>>>(1);
  cudaStreamSynchronize(stream);
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("set_stream", curandSetStream(g, stream));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("first_bits", curandGenerate(g, as<Word>(p), 1000));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("bits", curandGenerate(g, as<Word>(p), 1000));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("normal", curandGenerateNormal(g, as<float>(p), 1000, 0, 1));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("poisson", curandGeneratePoisson(g, as<Word>(p), 1000, 100));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("same_poisson", curandGeneratePoisson(g, as<Word>(p), 1000, 100));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("seeds", curandGenerateSeeds(g));
  curandSetGeneratorOffset(g, 3);
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("bits_after_offset", curandGenerate(g, as<Word>(p), 1000));
  spin<<<1, 1, 0, stream>>>(cycles);
  busy("destroy", curandDestroyGenerator(g));
  g.it = nullptr;
  cudaStreamDestroy(stream);
}

// `graph`: a call captured, and its graph launched twice.
void graph(const Kind& k, bool host) {
  const std::string name = std::string("graph.") + k.name + "." + place(host) + ".";
  if (!wanted(name)) return;
  const Distribution& b = k.wide ? longs : bits;
  for (const bool seeded : {true, false}) {
    const std::string what = name + (seeded ? "seeded" : "fresh");
    if (!wanted(what)) continue;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    Generator g(host, k.type);
    curandSetStream(g, stream);
    if (seeded) say(what + ".seeds", curandGenerateSeeds(g));
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    say(what + ".captured", b.make(g, host ? on_host : on_device, 1000));
    cudaGraph_t captured = nullptr;
    say(what + ".ended", cudaStreamEndCapture(stream, &captured));
    size_t nodes = 0;
    if (captured) cudaGraphGetNodes(captured, nullptr, &nodes);
    say(what + ".any_nodes", nodes > 0);
    cudaGraphExec_t ready = nullptr;
    if (captured && cudaGraphInstantiate(&ready, captured, 0) == cudaSuccess) {
      for (int round = 0; round < 2; ++round) {
        values(what + ".launch" + number(round), g,
               {"", b.bytes,
                [&](auto, void*, size_t) {
                  const int s = cudaGraphLaunch(ready, stream);
                  cudaStreamSynchronize(stream);
                  return s;
                }},
               1000);
      }
      cudaGraphExecDestroy(ready);
    }
    values(what + ".after", g, b, 1000);
    cudaGetLastError();
    if (captured) cudaGraphDestroy(captured);
    cudaStreamDestroy(stream);
  }
}

}  // namespace
