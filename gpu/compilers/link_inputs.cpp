// Extracts PTX from the inputs of a link.
#include "gpu/compilers/link_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/cuda/image/archive.hpp"
#include "gpu/cuda/image/linked.hpp"
#include "gpu/cuda/image/unit.hpp"

namespace inflight::compilers {
namespace {

using cuda::Bytes;
using cuda::Content;
using cuda::Image;
using Found = tl::expected<LinkInput, LinkError>;

constexpr std::uint32_t ltoir_magic = 0x7f4e43ed;
enum class Form { text, linked, ltoir, fatbin, elf, archive, unknown };

Form form_of(Bytes bytes) {
  if (cuda::field<std::uint32_t>(bytes, 0) == ltoir_magic) return Form::ltoir;
  if (cuda::is_archive(bytes)) return Form::archive;
  switch (cuda::content_of(bytes)) {
    case Content::text:
      return Form::text;
    case Content::linked:
      return Form::linked;
    case Content::fatbin:
      return Form::fatbin;
    case Content::elf:
      return Form::elf;
    case Content::wrapper:
    case Content::unknown:
      break;
  }
  return Form::unknown;
}

struct TypeRow {
  InputType type;
  std::string_view name;
  std::initializer_list<Form> forms;
};
// A cubin may be text, because this project's compilers return PTX as machine code.
const TypeRow types[] = {
    {InputType::cubin, "NVJITLINK_INPUT_CUBIN", {Form::elf, Form::text, Form::linked}},
    {InputType::ptx, "NVJITLINK_INPUT_PTX", {Form::text}},
    {InputType::ltoir, "NVJITLINK_INPUT_LTOIR", {Form::ltoir}},
    {InputType::fatbin, "NVJITLINK_INPUT_FATBIN", {Form::fatbin}},
    {InputType::object, "NVJITLINK_INPUT_OBJECT", {Form::elf}},
    {InputType::library, "NVJITLINK_INPUT_LIBRARY", {Form::archive}},
    {InputType::any,
     "NVJITLINK_INPUT_ANY",
     {Form::text, Form::linked, Form::ltoir, Form::fatbin, Form::elf, Form::archive}},
};

tl::unexpected<LinkError> refuse(LinkStatus status, std::string message) {
  return tl::unexpected<LinkError>({status, "ERROR: " + std::move(message)});
}

tl::expected<void, LinkError> check_type(InputType type, Form form) {
  const auto* row = std::find_if(std::begin(types), std::end(types),
                                 [&](const TypeRow& each) { return each.type == type; });
  if (row == std::end(types))
    return refuse(LinkStatus::incorrect_input_type,
                  fmt::format("unsupported input type {}", int(type)));
  if (std::find(row->forms.begin(), row->forms.end(), form) == row->forms.end())
    return refuse(LinkStatus::incorrect_input_type,
                  fmt::format("bad input: does not match type {}", row->name));
  return {};
}

// Reads one fatbin: its PTX, or the fact that it contains LTO-IR, which is preferred with -lto.
Found read_images(const std::vector<Image>& images, const LinkOptions& options) {
  LinkInput input;
  const auto is_ltoir = [](const Image& image) { return image.kind == Image::Kind::lto; };
  if (std::any_of(images.begin(), images.end(), is_ltoir)) {
    input.for_original = options.lto;
    const auto is_ptx = [](const Image& image) { return image.kind == Image::Kind::ptx; };
    if (!options.lto && std::none_of(images.begin(), images.end(), is_ptx))
      return refuse(LinkStatus::lto_not_enabled,
                    "LTO-IR input cannot be used without LTO enabled (-lto)");
    if (options.lto) return input;
  }
  if (cuda::is_device_runtime(images)) {
    input.device_runtime = true;
    return input;
  }
  const auto text = cuda::text_of(images, options.architecture);
  if (!text) return refuse(LinkStatus::invalid_input, text.error().message);
  input.texts.push_back(*text->text);
  return input;
}

void merge(LinkInput& into, LinkInput part) {
  for (std::string& text : part.texts) into.texts.push_back(std::move(text));
  into.for_original |= part.for_original;
  into.device_runtime |= part.device_runtime;
}

Found read_object(Bytes bytes, const LinkOptions& options) {
  const auto fatbins = cuda::read_elf(bytes);
  if (!fatbins) return refuse(LinkStatus::invalid_input, fatbins.error());
  LinkInput input;
  for (const auto& images : *fatbins) {
    auto part = read_images(images, options);
    if (!part) return part;
    merge(input, std::move(*part));
  }
  return input;
}

Found read_archive(Bytes bytes, const LinkOptions& options) {
  const auto objects = cuda::objects_of_archive(bytes);
  if (!objects) return refuse(LinkStatus::invalid_input, objects.error());
  LinkInput input;
  for (const Bytes object : *objects) {
    auto part = read_object(object, options);
    if (!part) return part;
    merge(input, std::move(*part));
  }
  return input;
}

Found read_fatbin(Bytes bytes, const LinkOptions& options) {
  const auto images = cuda::read_fatbin(bytes);
  if (!images) return refuse(LinkStatus::invalid_input, images.error());
  return read_images(*images, options);
}

Found read_linked(Bytes bytes) {
  auto texts = cuda::split_texts(bytes);
  if (!texts) return refuse(LinkStatus::invalid_input, texts.error());
  return LinkInput{std::move(*texts)};
}

}  // namespace

Found read_link_input(InputType type, Bytes bytes, const LinkOptions& options) {
  const Form form = form_of(bytes);
  if (auto right = check_type(type, form); !right) return tl::unexpected(right.error());
  switch (form) {
    case Form::text: {
      const std::string_view text = cuda::characters(bytes);
      return LinkInput{{std::string(text.substr(0, text.find('\0')))}};
    }
    case Form::linked:
      return read_linked(bytes);
    case Form::fatbin:
      return read_fatbin(bytes, options);
    case Form::elf:
      return read_object(bytes, options);
    case Form::archive:
      return read_archive(bytes, options);
    case Form::ltoir:
      if (options.lto) return LinkInput{{}, true};
      return refuse(LinkStatus::lto_not_enabled,
                    "LTO-IR input cannot be used without LTO enabled (-lto)");
    case Form::unknown:
      break;
  }
  return refuse(LinkStatus::unrecognized_input, "the input format is not recognised");
}

}  // namespace inflight::compilers
