// Appends rows, and lists the modifiers that no row names.
#include "gpu/machine/lowering/row.hpp"

namespace inflight::machine {

void add(Rows& rows, const Row& row) { rows.push_back(row); }

const ptx::ModSet& ignorable() {
  using ptx::Mod;
  static const ptx::ModSet mods{Mod::uni,
                                Mod::full,
                                Mod::noftz,
                                Mod::unified,
                                Mod::sync,
                                Mod::aligned,
                                Mod::ca,
                                Mod::cg,
                                Mod::cs,
                                Mod::lu,
                                Mod::cv,
                                Mod::wb,
                                Mod::wt,
                                Mod::nc,
                                Mod::L1_evict_normal,
                                Mod::L1_evict_unchanged,
                                Mod::L1_evict_first,
                                Mod::L1_evict_last,
                                Mod::L1_no_allocate,
                                Mod::L2_evict_last,
                                Mod::L2_evict_normal,
                                Mod::L2_evict_first,
                                Mod::L2_64B,
                                Mod::L2_128B,
                                Mod::L2_256B,
                                Mod::L2_cache_hint};
  return mods;
}

}  // namespace inflight::machine
