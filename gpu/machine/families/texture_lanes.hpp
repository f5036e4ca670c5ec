// What the families of textures and surfaces share: objects by their handles, operands, and what
// listeners are notified of texels.
#pragma once
#include <span>

#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/texture/sampler.hpp"

namespace inflight::machine {

// Op::a: handles; Op::extra: these operands' lanes, no_ref where the form has none.
struct TextureOperands {
  enum Name : unsigned { value, layer = 4, at, level = 8, dx, dy = 12, offset = 15, count = 18 };
  Ref refs[count];
  TextureOperands();
};

// The lanes of operand `name`; null: there is none.
template <class T>
T* lanes_of(Warp& w, const Op* op, unsigned name) {
  const Ref ref = w.frame->code->extra[op->extra + name];
  return ref == no_ref ? nullptr : w.at<T>(ref);
}

// The object that a lane's handle names, and whether its texels may be accessed. Null after a
// fault.
const texture::Texture* texture_of(Warp& w, const Op* op, int lane);
// Likewise to read it. A handle of no texture gives zeros where the table reaches so far, as on an
// H200, and a line says so; then `nothing()` is given back.
const texture::Texture* texture_to_read(Warp& w, const Op* op, int lane);
const texture::Texture* nothing();
const texture::Surface* surface_of(Warp& w, const Op* op, int lane, bool writing);

// Counts and reports `mask`, whose lanes access so many bytes at these addresses.
void note_texels(Warp& w, const Op* op, std::uint32_t mask, std::uint64_t (&addresses)[lanes],
                 std::uint32_t bytes, check::Access::Kind kind);
// Does anybody want to know?
bool texels_are_noted(const Warp& w);

// --- decoding ---

// The operands that follow a handle in brackets, taken one after the other.
class TextureReader {
 public:
  explicit TextureReader(Lowering& lo) : lo_(lo) {}
  // `[handle, {layer, x, y}]`: refuses references and samplers of their own.
  bool place(const ptx::Operand& handle, texture::Geometry geometry, bool integer);
  // Registers of `count` elements, results or values to store.
  bool values(const ptx::Operand& o, unsigned count, ptx::Type type, bool results);
  // Up to three numbers of a gradient or an offset.
  bool numbers(const ptx::Operand& o, unsigned name, unsigned count, ptx::Type type);
  TextureOperands operands;
  Ref handles = no_ref;
  std::span<const ptx::Operand> rest;  // what follows the place

 private:
  std::span<const ptx::Operand> elements(const ptx::Operand& o) const;
  Lowering& lo_;
};

}  // namespace inflight::machine
