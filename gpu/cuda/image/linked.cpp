// The image of a finished link: a header, and then each text, preceded by its length.
#include "gpu/cuda/image/linked.hpp"

#include <optional>

namespace inflight::cuda {
namespace {

constexpr std::string_view link_magic = "IFLINKED";
constexpr std::uint64_t link_header = 24;  // magic, total bytes, number of texts

void append(std::string& to, std::uint64_t number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

bool is_assembled(std::string_view text) { return text.ends_with(assembled_mark); }

std::string join_texts(std::span<const std::string> texts) {
  std::uint64_t total = link_header;
  for (const std::string& text : texts) total += sizeof(std::uint64_t) + text.size();
  std::string result(link_magic);
  append(result, total);
  append(result, texts.size());
  for (const std::string& text : texts) {
    append(result, text.size());
    result += text;
  }
  return result;
}

bool is_linked(std::span<const std::byte> header) {
  return characters(header).starts_with(link_magic);
}

std::uint64_t linked_size(std::span<const std::byte> header) {
  if (header.size() < 16 || !is_linked(header)) return 0;
  auto size = field<std::uint64_t>(header, link_magic.size());
  return size < link_header || size > (1ull << 40) ? 0 : size;
}

tl::expected<std::vector<std::string>, std::string> split_texts(Source& source) {
  constexpr std::uint64_t most = 1 << 20;  // texts of one link
  const auto bad = [] { return tl::unexpected(std::string("the linked image is damaged")); };
  const auto header = source.take(0, link_header);
  const std::uint64_t size = header ? linked_size(*header) : 0;
  const std::uint64_t count = header ? field<std::uint64_t>(*header, 16) : 0;
  if (size == 0 || size > source.size() || count > most) return bad();
  std::vector<std::string> texts;
  std::uint64_t at = link_header;
  for (std::uint64_t i = 0; i < count; ++i) {
    constexpr std::uint64_t length_bytes = sizeof(std::uint64_t);
    const auto length = size - at < length_bytes ? std::nullopt : source.take(at, length_bytes);
    if (!length) return bad();
    at += length_bytes;
    const auto bytes = field<std::uint64_t>(*length, 0);
    const auto text = bytes > size - at ? std::nullopt : source.take(at, bytes);
    if (!text) return bad();
    texts.emplace_back(characters(*text));
    at += bytes;
  }
  return texts;
}

tl::expected<std::vector<std::string>, std::string> split_texts(std::span<const std::byte> bytes) {
  Buffer source(bytes);
  return split_texts(source);
}

}  // namespace inflight::cuda
