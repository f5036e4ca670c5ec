// Shared by the texture and surface families: objects by handle, operands, and the events of texel
// accesses.
#pragma once
#include <span>

#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/texture/sampler.hpp"

namespace inflight::machine {

// Op::a: handles. Op::extra: the Refs of these operands, no_ref if the form lacks one.
struct TextureOperands {
  enum Name : unsigned { value, layer = 4, at, level = 8, dx, dy = 12, offset = 15, count = 18 };
  Ref refs[count];
  TextureOperands();
};

// The lanes of operand `name`; null if there is none.
template <class T>
T* lanes_of(Warp& w, const Op* op, unsigned name) {
  const Ref ref = w.frame->code->extra[op->extra + name];
  return ref == no_ref ? nullptr : w.at<T>(ref);
}

// The object of a lane's handle, after checking that its texels may be accessed. Null after a
// fault.
const texture::Texture* texture_of(Warp& w, const Op* op, int lane);
// The same for reading. A handle in the table's range that names no texture gives nothing(), which
// reads as zeros as on an H200, and a line of advice. With a checker it is a fault.
const texture::Texture* texture_to_read(Warp& w, const Op* op, int lane);
const texture::Texture* nothing();
const texture::Surface* surface_of(Warp& w, const Op* op, int lane, bool writing);

// Counts and reports accesses of the lanes `mask` to `bytes` each at these addresses.
void note_texels(Warp& w, const Op* op, std::uint32_t mask, std::uint64_t (&addresses)[lanes],
                 std::uint32_t bytes, check::Access::Kind kind);
// Whether texel accesses are counted or reported.
bool texels_are_noted(const Warp& w);

// --- decoding ---

// Binds the operands after a handle in brackets, one after the other.
class TextureReader {
 public:
  explicit TextureReader(Lowering& lo) : lo_(lo) {}
  // `[handle, {layer, x, y}]`. Refuses texture references and separate samplers.
  bool place(const ptx::Operand& handle, texture::Geometry geometry, bool integer);
  // Registers of `count` elements: results, or values to store.
  bool values(const ptx::Operand& o, unsigned count, ptx::Type type, bool results);
  // Up to three components of a gradient or an offset.
  bool numbers(const ptx::Operand& o, unsigned name, unsigned count, ptx::Type type);
  TextureOperands operands;
  Ref handles = no_ref;
  std::span<const ptx::Operand> rest;  // the operands after the place

 private:
  std::span<const ptx::Operand> elements(const ptx::Operand& o) const;
  Lowering& lo_;
};

}  // namespace inflight::machine
