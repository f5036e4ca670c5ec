// The rules for make_tensor_map's arguments: CUDA driver API, cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col. Where the documents are silent, the rules are what an H200's driver
// rejects.
#pragma once
#include <cinttypes>
#include <cstdio>
#include <inflight/impl/tensor_map_arguments.cuh>

namespace inflight::impl::tensor_rules {

inline finding check_counts(const arguments& a) {
  const int rank = a.rank(), strides = a.options.strides.count,
            steps = a.options.element_strides.count;
  if (rank == 0)
    return broken("extents", -1, "{}", "must have 1 to 5 dimensions", "give one number for each");
  if (strides != 0 && strides != rank - 1)
    return broken("strides", -1, count(strides, "number"),
                  "must be one fewer than the " + count(rank, "dimension"),
                  "omit dimension 0, whose elements are contiguous");
  if (steps != 0 && steps != rank)
    return broken("element_strides", -1, count(steps, "number"),
                  "must be one for each of the " + count(rank, "dimension"),
                  "give 1 for dimensions where the box takes every position");
  if (a.sliced() && rank < 3)
    return broken("interleave", -1, number(a.slice_bytes(), "-byte slices"),
                  "needs a tensor of at least 3 dimensions",
                  "give W, slices and N, or interleave none");
  return {};
}

inline finding check_type(const arguments& a) {
  if (a.type == tensor_type::of_pointer)
    return broken(
        "type", -1, "that of " + number(a.pointee_bytes) + "-byte elements",
        "has no matching tensor element type",
        a.pointee_bytes == 1 || a.pointee_bytes == 2 || a.pointee_bytes == 4 || a.pointee_bytes == 8
            ? "set options.type, or cast the pointer"
            : "cast the pointer to a type of 1, 2, 4 or 8 bytes");
  if (a.element_bytes() != a.pointee_bytes)
    return broken("type", -1, tensor_facts_of(a.type).name,
                  "has " + number(a.element_bytes()) + "-byte elements, but the pointer's have " +
                      number(a.pointee_bytes),
                  "choose a type of that size, or cast the pointer");
  if (a.options.fill == tensor_fill::nan && !tensor_facts_of(a.type).floating_point)
    return broken(
        "fill", -1, "nan",
        std::string("needs a floating-point type, but the type is ") + tensor_facts_of(a.type).name,
        "use tensor_fill::zero");
  if (a.options.interleave == tensor_interleave::b32 && a.options.swizzle != swizzle::b32)
    return broken("swizzle", -1, swizzle_names[static_cast<int>(a.options.swizzle)],
                  "must be b32 for 32-byte slices", "use swizzle::b32");
  return {};
}

inline finding check_pointer(const arguments& a) {
  const int multiple = a.options.interleave == tensor_interleave::b32 ? 32 : 16;
  const int past = static_cast<int>(a.pointer % multiple);
  if (past == 0) return {};
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, a.pointer);
  return broken("pointer", -1, text, "must be a multiple of " + number(multiple) + " bytes",
                "begin " + count(past, "byte") +
                    " earlier and add to the coordinates, or move the "
                    "tensor (cudaMalloc gives multiples of 256)");
}

inline finding check_extents(arguments& a) {
  for (int i = 0; i < a.rank(); ++i) {
    const std::int64_t extent = a.extents.value[i];
    if (extent < 1 || extent > std::int64_t{1} << 32)
      return broken(
          "extents", i, number(extent), "must be from 1 to 4294967296",
          extent < 1 ? "a tensor without elements needs no map" : "split the dimension into two");
    a.dim[i] = static_cast<std::uint64_t>(extent);
  }
  return {};
}

// The product, limited to 2^62. Neither factor is negative.
inline std::int64_t bytes_of(std::int64_t stride, std::int64_t extent) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  return stride > most / extent ? most : stride * extent;
}

// Every stride must step over the dimensions with smaller strides, in any order.
inline finding check_overlap(const arguments& a) {
  std::int64_t below = bytes_of(a.inner_bytes(), a.extents.value[0]);
  bool done[4] = {};
  for (int n = 0; n + 1 < a.rank(); ++n) {
    int i = -1;
    for (int j = 0; j + 1 < a.rank(); ++j)
      if (!done[j] && (i < 0 || a.strides[j] < a.strides[i])) i = j;
    done[i] = true;
    const auto stride = static_cast<std::int64_t>(a.strides[i]);
    const std::int64_t extent = a.extents.value[i + 1];
    if (extent == 1) continue;
    if (stride < below)
      return broken("strides", i, number(stride, " bytes"),
                    "must be at least the " + number(below) + " bytes that it steps over",
                    bytes_of(stride, a.element_bytes()) >= below
                        ? "strides count bytes, not elements"
                        : "set options.overlapping if positions are meant to overlap");
    below = bytes_of(stride, extent);
  }
  return {};
}

inline finding check_strides(arguments& a) {
  const int multiple = a.options.interleave == tensor_interleave::b32 ? 32 : 16;
  const bool packed = a.options.strides.count == 0;
  std::int64_t below = a.inner_bytes();
  for (int i = 0; i + 1 < a.rank(); ++i) {
    below = bytes_of(below, a.extents.value[i]);
    const std::int64_t stride = packed ? below : a.options.strides.value[i];
    const std::string value = number(stride, packed ? " bytes (packed)" : " bytes");
    if (stride < 0 || stride >= std::int64_t{1} << 40)
      return broken("strides", i, value, "must be from 0 to 2^40 - 1 bytes",
                    stride < 0 ? "begin at the other end of the dimension"
                               : "make maps of parts of the tensor");
    if (stride % multiple != 0) {
      const std::int64_t right = round_up(stride, multiple);
      return broken("strides", i, value, "must be a multiple of " + number(multiple),
                    std::string("pad each ") +
                        (i == 0   ? "row"
                         : i == 1 ? "plane"
                                  : "block") +
                        " to " + number(right) + " bytes (" + number(right - stride) + " more)");
    }
    a.strides[i] = static_cast<std::uint64_t>(stride);
  }
  if (a.options.overlapping) return {};
  return check_overlap(a);
}

inline finding check_element_strides(arguments& a) {
  for (int i = 0; i < a.options.element_strides.count; ++i) {
    const std::int64_t step = a.options.element_strides.value[i];
    if (step < 1 || step > 8)
      return broken("element_strides", i, number(step), "must be from 1 to 8",
                    step < 1 ? "1 takes every position" : "use larger strides in the tensor");
    a.element_strides[i] = static_cast<std::uint32_t>(step);
  }
  return {};
}

// The row of a box: `argument[index] = count` elements of dimension 0.
inline finding check_row(const arguments& a, const char* argument, int index,
                         std::int64_t elements) {
  const std::int64_t bytes = elements * a.element_bytes();
  const std::string value = count(elements, "element") + " (" + count(bytes, "byte") + ")";
  const auto take = [&](std::int64_t row) {
    return "take " + count(row / a.element_bytes(), "element");
  };
  const std::int64_t span = swizzle_span(a.options.swizzle);
  if (a.sliced()) return {};
  if (bytes % 16 != 0)
    return broken(argument, index, value, "must be a multiple of 16 bytes",
                  take(round_up(bytes, 16)));
  if (span != 0 && bytes > span)
    return broken(argument, index, value,
                  "must be at most " + number(span) + " bytes, the span of the swizzle",
                  take(span) + " and more boxes, or use " +
                      (bytes > 128  ? "no swizzle"
                       : bytes > 64 ? "swizzle::b128"
                                    : "swizzle::b64"));
  return {};
}

constexpr std::int64_t most_box_bytes = 233472;  // the shared memory of a multiprocessor

inline finding check_box(const arguments& a, const tensor_dims& box) {
  if (box.count != a.rank())
    return broken("box", -1, count(box.count, "number"),
                  "must be one for each of the " + count(a.rank(), "dimension"),
                  "give 1 for dimensions where the box is thin");
  std::int64_t bytes = a.element_bytes();
  std::string shape;
  for (int i = 0; i < box.count; ++i) {
    const std::int64_t size = box.value[i];
    if (size < 1 || size > 256)
      return broken("box", i, number(size), "must be from 1 to 256",
                    size < 1 ? "a box has at least one element"
                             : "copy " + number((size + 255) / 256) +
                                   " boxes, or fold the dimension "
                                   "into two");
    bytes *= i == 0 ? size : (size + a.element_strides[i] - 1) / a.element_strides[i];
    shape += (i == 0 ? "" : " x ") + number(size);
  }
  if (finding row = check_row(a, "box", 0, box.value[0])) return row;
  if (bytes > most_box_bytes)
    return broken("box", -1, shape + " elements (" + number(bytes) + " bytes)",
                  "must be at most 233472 bytes", "copy several boxes");
  return {};
}

inline finding check_im2col(const arguments& a, const im2col_box& box) {
  if (a.rank() < 3)
    return broken("extents", -1, count(a.rank(), "number"), "must be 3 to 5 for im2col",
                  "give C, W, H, D and N; D and H may be left out");
  const int spatial = a.rank() - 2;
  const std::int64_t limit = spatial == 1 ? 32768 : spatial == 2 ? 128 : 16;
  const tensor_dims* corners[] = {&box.lower_corner, &box.upper_corner};
  const char* names[] = {"lower_corner", "upper_corner"};
  for (int c = 0; c < 2; ++c) {
    if (corners[c]->count != spatial)
      return broken(names[c], -1, count(corners[c]->count, "number"),
                    "must be one for each dimension of W, H, D, here " + number(spatial),
                    "C and N have none");
    for (int i = 0; i < spatial; ++i)
      if (corners[c]->value[i] < -limit || corners[c]->value[i] >= limit)
        return broken(names[c], i, number(corners[c]->value[i]),
                      "must be from " + number(-limit) + " to " + number(limit - 1) +
                          " for a tensor of " + number(a.rank()) + " dimensions",
                      "pad the tensor itself");
  }
  for (int i = 0; i < spatial; ++i) {
    const std::int64_t upper = box.upper_corner.value[i], lower = box.lower_corner.value[i],
                       pixels = a.extents.value[i + (a.sliced() ? 0 : 1)] + upper - lower;
    if (pixels < 1)
      return broken(
          "upper_corner", i, number(upper), "leaves a bounding box without pixels",
          "it must be at least " + number(upper + 1 - pixels) + " with that lower corner");
  }
  if (box.channels_per_pixel < 1 || box.channels_per_pixel > 256)
    return broken("channels_per_pixel", -1, number(box.channels_per_pixel), "must be from 1 to 256",
                  "copy the channels in several parts");
  if (box.pixels_per_column < 1 || box.pixels_per_column > 1024)
    return broken("pixels_per_column", -1, number(box.pixels_per_column), "must be from 1 to 1024",
                  "copy several columns");
  if (finding row = check_row(a, "channels_per_pixel", -1, box.channels_per_pixel)) return row;
  const std::int64_t bytes =
      std::int64_t{box.channels_per_pixel} * box.pixels_per_column * a.element_bytes();
  if (bytes > most_box_bytes)
    return broken("pixels_per_column", -1,
                  number(box.pixels_per_column, " pixels (") + number(bytes, " bytes)"),
                  "must make at most 233472 bytes", "copy several columns");
  return {};
}

inline finding check_common(arguments& a) {
  if (finding f = check_counts(a)) return f;
  if (finding f = check_type(a)) return f;
  if (finding f = check_pointer(a)) return f;
  if (finding f = check_extents(a)) return f;
  if (finding f = check_element_strides(a)) return f;
  return check_strides(a);
}

}  // namespace inflight::impl::tensor_rules
