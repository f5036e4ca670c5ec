// Driver API: the linker, for PTX inputs.
#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <vector>

#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/driver/module.hpp"
#include "gpu/cuda/driver/options.hpp"
#include "gpu/cuda/image/archive.hpp"
#include "gpu/cuda/image/bytes.hpp"
#include "gpu/cuda/image/fatbin.hpp"
#include "gpu/cuda/image/linked.hpp"
#include "gpu/cuda/image/source.hpp"

namespace inflight::cuda::driver {
namespace {

// A CUlinkState. It owns the images that cuLinkComplete returns. Of the caller's options only the
// values must outlive the call (CUDA driver API, cuLinkCreate), since results are stored there.
struct Link {
  Link(unsigned count, const int* numbers, void** values)
      : numbers(numbers, numbers + (numbers ? count : 0)),
        options{unsigned(this->numbers.size()), this->numbers.data(), values} {}
  const ContextRef context{current_context()};
  const std::vector<int> numbers;
  const JitOptions options;
  std::recursive_mutex mutex;  // a log's callback may use the link
  std::vector<std::string> texts;
  std::deque<std::string> images;
};

Handles<Link>& links() {
  static auto* handles = new Handles<Link>;
  return *handles;
}

// CUjitInputType.
enum class Input : int { cubin = 0, ptx = 1, fatbin = 2, object = 3, library = 4, nvvm = 5 };

Status refuse(Link& link, std::string message) {
  write_logs(link.options, message);
  return report(Failure(Status::invalid_ptx, std::move(message)));
}

// Adds the PTX that the current device would run from a fatbin. The software GPU supplies the
// functions of the device runtime itself.
Status add_images(Link& link, std::span<const Image> images) {
  if (is_device_runtime(images)) return Status::success;
  auto text = text_of(images, current_device().profile.architecture);
  if (!text) return refuse(link, text.error().message);
  link.texts.push_back(*text->text);
  return Status::success;
}

Status add_elf(Link& link, Bytes bytes) {
  auto fatbins = read_elf(bytes);
  if (!fatbins) return refuse(link, fatbins.error());
  for (const auto& images : *fatbins)
    if (Status status = add_images(link, images); status != Status::success) return status;
  return Status::success;
}

Status add_archive(Link& link, Bytes bytes) {
  const auto objects = objects_of_archive(bytes);
  if (!objects) return refuse(link, objects.error());
  for (const Bytes object : *objects)
    if (Status status = add_elf(link, object); status != Status::success) return status;
  return Status::success;
}

Status add_fatbin(Link& link, Bytes bytes) {
  auto images = read_fatbin(bytes);
  return images ? add_images(link, *images) : refuse(link, images.error());
}

// The input's kind is detected from its bytes. Only LTO-IR is recognised by the type that the
// program passes.
Status add(Link& link, int type, Bytes bytes) {
  if (Input(type) == Input::nvvm) {
    return refuse(link, "LTO-IR cannot be linked by the software GPU; compile to PTX instead");
  }
  if (is_archive(bytes)) return add_archive(link, bytes);
  switch (content_of(bytes)) {
    case Content::elf:
      return add_elf(link, bytes);
    case Content::fatbin:
      return add_fatbin(link, bytes);
    case Content::text: {
      std::string_view text = characters(bytes);
      link.texts.emplace_back(text.substr(0, text.find('\0')));
      return Status::success;
    }
    default:
      break;
  }
  return refuse(link, "the linker's input is neither PTX nor an object file with PTX");
}

Status add_data(Link& link, int type, const void* data, std::size_t bytes) {
  ProcessMemory memory(data);
  const auto there = memory.take(0, bytes);
  if (there) return add(link, type, *there);
  return report(Failure(
      Status::invalid_value,
      fmt::format("the linker's input should have {} bytes, but not all of them can be read at {}",
                  bytes, data)));
}

Status add_file(Link& link, int type, const char* path) {
  if (!path) return Status::invalid_value;
  auto file = File::open(path);
  const auto bytes = file ? file->all() : tl::unexpected(file.error());
  if (bytes) return add(link, type, bytes_of(*bytes));
  return report(
      Failure(Status::file_not_found, fmt::format("the file {} {}", path, bytes.error())));
}

// Links once to report errors here. The image holds the texts, which are linked again when it is
// loaded.
Status complete(Link& link, void** image, std::size_t* bytes) {
  if (!image || link.texts.empty()) return Status::invalid_value;
  std::string joined = join_texts(link.texts);
  auto module = LoadedModule::from_memory(joined.data());
  if (!module) return refuse(link, module.error().message);
  auto program = (*module)->on(current_device().ordinal);
  if (!program) return refuse(link, program.error().message);
  write_logs(link.options, {});
  if (link.images.empty() || link.images.back() != joined) link.images.push_back(std::move(joined));
  *image = link.images.back().data();
  if (bytes) *bytes = link.images.back().size();
  return Status::success;
}

Context* of_link(Handle handle) {
  auto link = links().find(handle);
  return link ? link->context : of_any();
}

template <class Body>
Status with_link(Handle handle, Body&& body) {
  auto link = links().find(handle);
  if (!link) return Status::invalid_handle;
  const std::lock_guard lock(link->mutex);
  return body(*link);
}

}  // namespace

INFLIGHT_CU(cuLinkCreate_v2, (unsigned count, int* options, void** values, Handle* state), {
  if (!state) return Status::invalid_value;
  *state = links().add(std::make_shared<Link>(count, options, values));
  return Status::success;
})
INFLIGHT_CU_AT(
    of_link(state), cuLinkAddData_v2,
    (Handle state, int type, void* data, std::size_t bytes, const char*, unsigned, int*, void**), {
      if (!data || bytes == 0) return Status::invalid_value;
      return with_link(state, [&](Link& link) { return add_data(link, type, data, bytes); });
    })
INFLIGHT_CU_AT(of_link(state), cuLinkAddFile_v2,
               (Handle state, int type, const char* path, unsigned, int*, void**),
               { return with_link(state, [&](Link& link) { return add_file(link, type, path); }); })
INFLIGHT_CU_AT(of_link(state), cuLinkComplete, (Handle state, void** image, std::size_t* bytes), {
  return with_link(state, [&](Link& link) { return complete(link, image, bytes); });
})
INFLIGHT_CU_AT(of_link(state), cuLinkDestroy, (Handle state),
               { return links().remove(state) ? Status::success : Status::invalid_handle; })

}  // namespace inflight::cuda::driver
