#!/usr/bin/env bash
# Tests docs/several-gpus.md with its MPI commands: mpi.sh INFLIGHT PROGRAM NVCC. Status 77: no MPI.
. "$(dirname "$0")/../lib.sh"
command -v mpirun mpicxx >/dev/null || exit 77
# Allows root, fewer cores than ranks, and containers without ptrace.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
  OMPI_MCA_btl_vader_single_copy_mechanism=none
PATH=$(dirname "$inflight"):$(dirname "$3"):$PATH python3 "$here/../../python/sessions/check" \
  "$here/../../../docs/several-gpus.md" "$work" torchrun NCCL nccl all_reduce_perf || fail "docs/several-gpus.md says otherwise"
finish
