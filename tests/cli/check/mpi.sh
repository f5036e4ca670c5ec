#!/usr/bin/env bash
# docs/several-gpus.md with its commands of MPI: mpi.sh INFLIGHT PROGRAM NVCC. Status 77: there is no MPI.
. "$(dirname "$0")/../lib.sh"
command -v mpirun mpicxx >/dev/null || exit 77
# By root too, with fewer cores than ranks, and in containers without ptrace.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
  OMPI_MCA_btl_vader_single_copy_mechanism=none
PATH=$(dirname "$inflight"):$(dirname "$3"):$PATH python3 "$here/../../python/sessions/check" \
  "$here/../../../docs/several-gpus.md" "$work" torchrun NCCL nccl all_reduce_perf || fail "docs/several-gpus.md says otherwise"
finish
