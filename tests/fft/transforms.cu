// flags: -Xlinker -l:libcufft.so.12
// stderr: cuFFT transforms are computed by
// Every type, rank, layout and direction, in other memory and in place, against the definition.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>

#include "common.cuh"

namespace {

enum Form { complex, forward_real, inverse_real };

// How a side's elements lie. Rank 3 always; the outer sizes of fewer dimensions are 1.
struct Side {
  int sizes[3];
  int embed[3];
  int stride, distance;
  int parts;  // reals in an element
  long long at(int b, int i, int j, int k) const {
    return (long long)b * distance + (((long long)i * embed[1] + j) * embed[2] + k) * stride;
  }
  long long span(int batch) const {
    return (at(batch - 1, sizes[0] - 1, sizes[1] - 1, sizes[2] - 1) + 1) * parts;
  }
};

struct Case {
  Form form;
  int rank;
  int n[3];  // with 1 for outer dimensions that are not there
  int batch;
  bool in_place, given;
  int direction;
};

// Rows of reals in place are padded to those of the complex numbers.
Side side_of(const Case& c, bool is_complex, bool wide) {
  Side side{{c.n[0], c.n[1], c.n[2]}, {}, 1, 0, is_complex ? 2 : 1};
  const int half = c.n[2] / 2 + 1;
  if (is_complex && c.form != complex) side.sizes[2] = half;
  for (int i = 0; i < 3; ++i) side.embed[i] = side.sizes[i];
  if (!is_complex && c.in_place) side.embed[2] = 2 * half;
  if (c.given && !c.in_place) {
    side.embed[2] += wide ? 3 : 1;
    if (c.rank > 1) side.embed[1] += wide ? 1 : 2;
    side.stride = wide ? 2 : 3;
  }
  side.distance = side.embed[0] * side.embed[1] * side.embed[2] * side.stride;
  if (c.given && !c.in_place) side.distance += 5;
  return side;
}

// The whole real or complex input of one transform.
std::vector<Z> input_of(const Case& c, int b) {
  const int count = c.n[0] * c.n[1] * c.n[2];
  std::vector<Z> result(count);
  for (int i = 0; i < count; ++i)
    result[i] = {sample(i + 1000 * b), c.form == complex ? sample(5 * i + 3 + b) : 0};
  if (c.form != inverse_real) return result;
  // A real output has a symmetric input.
  return transform(result, c.n, -1);
}

template <class T>
double number(T value) {
  return double(float(value));
}
template <>
double number(double value) {
  return value;
}

template <class T>
void store(std::vector<T>& memory, const Side& side, int b, int i, int j, int k, Z value) {
  const long long at = side.at(b, i, j, k) * side.parts;
  memory[at] = T(value.real());
  if (side.parts == 2) memory[at + 1] = T(value.imag());
}
template <class T>
Z load(const std::vector<T>& memory, const Side& side, int b, int i, int j, int k) {
  const long long at = side.at(b, i, j, k) * side.parts;
  return {number(memory[at]), side.parts == 2 ? number(memory[at + 1]) : 0};
}

template <class Visit>
void each_element(const Side& side, Visit visit) {
  for (int i = 0; i < side.sizes[0]; ++i)
    for (int j = 0; j < side.sizes[1]; ++j)
      for (int k = 0; k < side.sizes[2]; ++k) visit(i, j, k);
}

template <class T>
struct Library;  // the library's types for reals of type T, how near results are, and its calls
template <>
struct Library<float> {
  static constexpr cudaDataType real = CUDA_R_32F, complex = CUDA_C_32F;
  static constexpr double near = 2e-6;
  static constexpr cufftType kinds[] = {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R};
  static cufftResult run(cufftHandle plan, Form form, float* in, float* out, int direction) {
    auto *from = reinterpret_cast<cufftComplex*>(in), *to = reinterpret_cast<cufftComplex*>(out);
    if (form == Form::complex) return cufftExecC2C(plan, from, to, direction);
    return form == forward_real ? cufftExecR2C(plan, in, to) : cufftExecC2R(plan, from, out);
  }
};
template <>
struct Library<double> {
  static constexpr cudaDataType real = CUDA_R_64F, complex = CUDA_C_64F;
  static constexpr double near = 1e-14;
  static constexpr cufftType kinds[] = {CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D};
  static cufftResult run(cufftHandle plan, Form form, double* in, double* out, int direction) {
    auto *from = reinterpret_cast<cufftDoubleComplex*>(in),
         *to = reinterpret_cast<cufftDoubleComplex*>(out);
    if (form == Form::complex) return cufftExecZ2Z(plan, from, to, direction);
    return form == forward_real ? cufftExecD2Z(plan, in, to) : cufftExecZ2D(plan, from, out);
  }
};
template <>
struct Library<__half> {
  static constexpr cudaDataType real = CUDA_R_16F, complex = CUDA_C_16F;
  static constexpr double near = 2e-3;
};
template <>
struct Library<__nv_bfloat16> {
  static constexpr cudaDataType real = CUDA_R_16BF, complex = CUDA_C_16BF;
  static constexpr double near = 2e-2;
};
template <class T>
constexpr bool has_calls = sizeof(T) > 2;

enum Maker { by_rank, many, many64, typed, last_maker };

// The plan of a case, made by one of the calls.
template <class T>
cufftHandle plan_of(const Case& c, Maker maker, const Side& in, const Side& out) {
  cufftHandle plan = 0;
  std::size_t bytes = 0;
  int n[3], in_embed[3], out_embed[3];
  long long wide_n[3], wide_in[3], wide_out[3];
  for (int i = 0; i < c.rank; ++i) {
    const int from = 3 - c.rank + i;
    wide_n[i] = n[i] = c.n[from];
    wide_in[i] = in_embed[i] = in.embed[from];
    wide_out[i] = out_embed[i] = out.embed[from];
  }
  if constexpr (has_calls<T>) {
    const cufftType kind = Library<T>::kinds[c.form];
    if (maker == by_rank && !c.given && (c.rank == 1 || c.batch == 1)) {
      if (c.rank == 1) GOOD(cufftPlan1d(&plan, n[0], kind, c.batch));
      if (c.rank == 2) GOOD(cufftPlan2d(&plan, n[0], n[1], kind));
      if (c.rank == 3) GOOD(cufftPlan3d(&plan, n[0], n[1], n[2], kind));
      return plan;
    }
    if (maker == by_rank || maker == many) {
      GOOD(cufftPlanMany(&plan, c.rank, n, c.given ? in_embed : nullptr, in.stride, in.distance,
                         c.given ? out_embed : nullptr, out.stride, out.distance, kind, c.batch));
      return plan;
    }
    if (maker == many64) {
      GOOD(cufftCreate(&plan));
      GOOD(cufftMakePlanMany64(plan, c.rank, wide_n, c.given ? wide_in : nullptr, in.stride,
                               in.distance, c.given ? wide_out : nullptr, out.stride, out.distance,
                               kind, c.batch, &bytes));
      return plan;
    }
  }
  GOOD(cufftCreate(&plan));
  GOOD(cufftXtMakePlanMany(plan, c.rank, wide_n, c.given ? wide_in : nullptr, in.stride,
                           in.distance, in.parts == 2 ? Library<T>::complex : Library<T>::real,
                           c.given ? wide_out : nullptr, out.stride, out.distance,
                           out.parts == 2 ? Library<T>::complex : Library<T>::real, c.batch, &bytes,
                           Library<T>::complex));
  return plan;
}

int cases = 0;

template <class T>
void check(const Case& c, Maker maker, const char* type) {
  ++cases;
  const Side in = side_of(c, c.form != forward_real, true),
             out = side_of(c, c.form != inverse_real, false);
  const T untouched = T(77.0f);
  const auto in_reals = in.span(c.batch), out_reals = out.span(c.batch);
  const auto reals = c.in_place ? std::max(in_reals, out_reals) : in_reals;
  std::vector<T> memory(reals, untouched);
  std::vector<std::vector<Z>> wanted;
  // Values of f16 stay in its range.
  const double scale = has_calls<T> || c.form != inverse_real ? 1 : 1.0 / 64;
  for (int b = 0; b < c.batch; ++b) {
    std::vector<Z> input = input_of(c, b);
    for (Z& each : input) each *= scale;
    each_element(in, [&](int i, int j, int k) {
      store(memory, in, b, i, j, k, input[(i * c.n[1] + j) * c.n[2] + k]);
    });
    wanted.push_back(transform(input, c.n, c.direction));
  }
  const On<T> from(memory), to(std::vector<T>(c.in_place ? 1 : out_reals, untouched));
  T* const place = c.in_place ? from.data : to.data;
  const cufftHandle plan = plan_of<T>(c, maker, in, out);
  if constexpr (has_calls<T>) {
    if (maker == by_rank || maker == many64)
      GOOD(Library<T>::run(plan, c.form, from.data, place, c.direction));
    else
      GOOD(cufftXtExec(plan, from.data, place, c.direction));
  } else {
    GOOD(cufftXtExec(plan, from.data, place, c.direction));
  }
  expect(cudaDeviceSynchronize() == cudaSuccess, "no fault");
  GOOD(cufftDestroy(plan));

  const std::vector<T> got = c.in_place ? from.host() : to.host();
  double error = 0, size = 0;
  std::vector<bool> written(got.size());
  for (int b = 0; b < c.batch; ++b)
    each_element(out, [&](int i, int j, int k) {
      const Z value = wanted[b][(i * c.n[1] + j) * c.n[2] + k];
      error = std::max(error, std::abs(load(got, out, b, i, j, k) - value));
      size = std::max(size, std::abs(value));
      for (int part = 0; part < out.parts; ++part)
        written[out.at(b, i, j, k) * out.parts + part] = true;
    });
  bool gaps = true;
  if (!c.in_place)
    for (std::size_t i = 0; i < got.size(); ++i)
      gaps = gaps && (written[i] || number(got[i]) == number(untouched));
  const bool kept = c.in_place || (c.form == inverse_real && c.n[0] * c.n[1] > 1) ||
                    std::memcmp(from.host().data(), memory.data(), reals * sizeof(T)) == 0;
  char text[200];
  std::snprintf(text, sizeof text,
                "%s form %d, %d x %d x %d, batch %d, %s, %s, direction %d, call %d: error %g of %g",
                type, c.form, c.n[0], c.n[1], c.n[2], c.batch, c.in_place ? "in place" : "to other",
                c.given ? "layouts" : "no layouts", c.direction, maker, error, size);
  expect(error <= Library<T>::near * size, text);
  expect(gaps, std::string("gaps of ") + text);
  expect(kept, std::string("the input of ") + text);
}

template <class T>
void check_all(const char* type) {
  const int shapes[][4] = {{1, 1, 1, 1}, {1, 1, 1, 16}, {1, 1, 1, 15}, {1, 1, 1, 37},
                           {2, 1, 8, 4}, {2, 1, 5, 6},  {2, 1, 1, 8},  {2, 1, 9, 1},
                           {3, 4, 2, 8}, {3, 3, 5, 7},  {3, 2, 1, 6},  {3, 1, 1, 12}};
  int turn = 0;
  for (const auto& shape : shapes) {
    const bool powers = [&] {
      for (int i = 1; i < 4; ++i)
        if (shape[i] & (shape[i] - 1)) return false;
      return true;
    }();
    if (!has_calls<T> && !powers) continue;
    for (const Form form : {complex, forward_real, inverse_real})
      for (const int batch : {1, 3})
        for (const bool in_place : {false, true})
          for (const bool given : {false, true})
            for (const int direction : {CUFFT_FORWARD, CUFFT_INVERSE}) {
              if (form != complex && (form == forward_real) != (direction == CUFFT_FORWARD))
                continue;
              const Maker maker = has_calls<T> ? Maker(turn++ % last_maker) : typed;
              check<T>({form,
                        shape[0],
                        {shape[1], shape[2], shape[3]},
                        batch,
                        in_place,
                        given,
                        direction},
                       maker, type);
            }
  }
}

// In place with another layout for the output: columns become rows.
void transposed() {
  const int rows = 6, columns = 5;
  int n[] = {rows}, embed[] = {rows};
  std::vector<float> memory(2 * rows * columns);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = float(sample(i));
  const On<float> at(memory);
  auto* const place = reinterpret_cast<cufftComplex*>(at.data);
  cufftHandle plan;
  GOOD(cufftPlanMany(&plan, 1, n, embed, columns, 1, embed, 1, rows, CUFFT_C2C, columns));
  GOOD(cufftExecC2C(plan, place, place, CUFFT_FORWARD));
  const std::vector<float> got = at.host();
  double error = 0;
  for (int c = 0; c < columns; ++c) {
    std::vector<Z> column(rows);
    for (int r = 0; r < rows; ++r)
      column[r] = {memory[2 * (r * columns + c)], memory[2 * (r * columns + c) + 1]};
    const std::vector<Z> wanted = transform(column, {1, 1, rows}, -1);
    for (int r = 0; r < rows; ++r) {
      const int i = 2 * (c * rows + r);
      error = std::max(error, std::abs(Z(got[i], got[i + 1]) - wanted[r]));
    }
  }
  expect(error < 1e-4, "columns that become rows in place");
  GOOD(cufftDestroy(plan));
}

}  // namespace

int main() {
  check_all<float>("f32");
  check_all<double>("f64");
  check_all<__half>("f16");
  check_all<__nv_bfloat16>("bf16");
  transposed();
  std::printf("%d transforms\n", cases);
  return finish();
}
