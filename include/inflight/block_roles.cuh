// Roles of a block's warpgroups: which of them do what, with how many registers each, and barriers
// of one role's threads. CUDA C++ Programming Guide, "Warp specialization"; PTX ISA, "setmaxnreg",
// "bar". Changing registers needs sm_90a.
//
//   using producers = inflight::warpgroup_role<1, 40>;      // one warpgroup, 40 registers a thread
//   using consumers = inflight::warpgroup_role<2, 232>;
//   using roles = inflight::block_roles<producers, consumers>;
//
//   __global__ void __launch_bounds__(roles::threads, 1) kernel(...) {
//     ...
//     roles::run([&](auto role) { ... },                    // the first warpgroup
//                [&](auto role) { ... role.sync(); ... });  // the other two
//   }
#pragma once
#include <inflight/impl/group_lanes.cuh>
#include <inflight/impl/require.cuh>
#include <inflight/ptx/block_barrier.cuh>
#include <inflight/ptx/wgmma.cuh>

namespace inflight {

// One of the block's barriers 1 to 15 for Threads threads, whole warps: arrivals and waits count
// together. Barrier 0 is __syncthreads().
template <int Threads>
class named_barrier {
  static_assert(Threads > 0 && Threads % 32 == 0, "A named barrier is for whole warps.");

 public:
  INFLIGHT_DEVICE explicit constexpr named_barrier(unsigned id) : id_(id) {}
  INFLIGHT_DEVICE void sync() const { ptx::bar_sync(id_, Threads); }
  INFLIGHT_DEVICE void arrive() const { ptx::bar_arrive(id_, Threads); }

 private:
  unsigned id_;
};

// Warpgroups of a role, and the registers of each of their threads; 0: as many as at the launch.
template <int Warpgroups, int Registers = 0>
struct warpgroup_role {
  static_assert(Warpgroups > 0, "A role has at least one warpgroup.");
  static_assert(Registers == 0 || (Registers >= 24 && Registers <= 256 && Registers % 8 == 0),
                "setmaxnreg takes a multiple of 8 from 24 to 256.");
  static constexpr int warpgroups = Warpgroups, registers = Registers;
  static constexpr int threads = 128 * Warpgroups;
};

// What a thread knows of its role: a group of the role's threads.
template <class Role, int First, unsigned Barrier>
class role_group {
 public:
  static constexpr int threads = Role::threads;
  INFLIGHT_DEVICE static constexpr unsigned size() { return threads; }
  INFLIGHT_DEVICE static constexpr unsigned num_threads() { return threads; }
  INFLIGHT_DEVICE static unsigned thread_rank() { return impl::block_thread_rank() - First * 128; }
  // This thread's warpgroup in the role, and its warp.
  INFLIGHT_DEVICE static unsigned warpgroup_rank() { return warp_rank() / 4; }
  INFLIGHT_DEVICE static unsigned warp_rank() {
    return ptx::shfl(0xffffffffu, thread_rank() / 32, 0);  // one value, which the compiler knows
  }
  // All threads of the role wait for one another.
  INFLIGHT_DEVICE static void sync() { ptx::bar_sync(Barrier, threads); }
  // The threads of this thread's warpgroup, as a group.
  struct warpgroup_group {
    unsigned id;
    INFLIGHT_DEVICE static constexpr unsigned size() { return 128; }
    INFLIGHT_DEVICE static constexpr unsigned num_threads() { return 128; }
    INFLIGHT_DEVICE static unsigned thread_rank() { return impl::block_thread_rank() % 128; }
    INFLIGHT_DEVICE void sync() const { ptx::bar_sync(id, 128); }
  };
  INFLIGHT_DEVICE static warpgroup_group warpgroup() { return {Barrier + 1 + warpgroup_rank()}; }
};

// The roles of a block's warpgroups, in their order.
template <class... Roles>
class block_roles {
 public:
  static constexpr int warpgroups = (0 + ... + Roles::warpgroups);
  static constexpr int threads = 128 * warpgroups;
  // Registers of each thread at the launch: those of a multiprocessor, divided.
  static constexpr int launch_registers = 65536 / threads / 8 * 8;
  static_assert(threads <= 1024, "A block has at most 8 warpgroups.");
  static_assert((0 + ... +
                 (Roles::threads *
                  (Roles::registers == 0 ? launch_registers : Roles::registers))) <=
                    launch_registers * threads,
                "The roles' registers exceed those that the block has at its launch.");

  // Calls the function of the calling thread's role with a role_group, after setmaxnreg. The block
  // is one-dimensional or its shape a multiple of 128 threads wide.
  template <class... Functions>
  INFLIGHT_DEVICE static void run(Functions&&... functions) {
    static_assert(sizeof...(Functions) == sizeof...(Roles), "Each role needs one function.");
    const int warpgroup =
        static_cast<int>(ptx::shfl(0xffffffffu, impl::block_thread_rank() / 128, 0));
    choose<0, 1, Roles...>(warpgroup, functions...);
  }

 private:
  // Barriers: one for each role, followed by one for each of its warpgroups.
  template <int First, unsigned Barrier, class Role, class... More, class Function, class... Others>
  INFLIGHT_DEVICE static void choose(int warpgroup, Function& function, Others&... others) {
    static_assert(Barrier + Role::warpgroups <= 15, "A block has 15 named barriers.");
    if (sizeof...(More) == 0 || warpgroup < First + Role::warpgroups) {
      if constexpr (Role::registers != 0) {
        impl::require_warpgroups<Role>();
        impl::require_sm_90a_at_run_time();
      }
      if constexpr (Role::registers > launch_registers)
        ptx::setmaxnreg_inc<Role::registers>();
      else if constexpr (Role::registers != 0 && Role::registers < launch_registers)
        ptx::setmaxnreg_dec<Role::registers>();
      function(role_group<Role, First, Barrier>());
    } else if constexpr (sizeof...(More) > 0) {
      choose<First + Role::warpgroups, Barrier + 1 + Role::warpgroups, More...>(warpgroup,
                                                                                others...);
    }
  }
};

}  // namespace inflight
