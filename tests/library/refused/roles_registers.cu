// Roles that together want more registers than the block has at its launch.
// error: The roles' registers exceed those that the block has at its launch
#include <inflight/block_roles.cuh>

using roles =
    inflight::block_roles<inflight::warpgroup_role<1, 40>, inflight::warpgroup_role<2, 240>>;
__global__ void __launch_bounds__(roles::threads) kernel() {
  roles::run([](auto) {}, [](auto) {});
}
