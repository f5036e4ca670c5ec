#!/bin/sh
# Makes the corpus from kernel.cu with the nvcc on PATH; run in this folder.
set -eu
fatbin() { name=$1; shift; nvcc -fatbin "$@" kernel.cu -o "$name.fatbin"; }
fatbin zstd -arch=sm_90
fatbin lz4 -arch=sm_90 --compress-mode=speed
fatbin raw -arch=sm_90 --compress-mode=none
fatbin several -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=compute_90 \
  -gencode arch=compute_90a,code=compute_90a -gencode arch=compute_100f,code=compute_100f
fatbin specific -gencode arch=compute_90a,code=sm_90a
fatbin pair -arch=sm_90a
fatbin relocatable -arch=sm_90 -rdc=true
fatbin lineinfo -lineinfo -gencode arch=compute_90a,code=sm_90a
nvcc -cubin -lineinfo -arch=sm_90 -rdc=true kernel.cu -o lineinfo.cubin
nvcc -ptx -arch=sm_90 kernel.cu -o text.ptx
echo 'int host;' | gcc -c -x c - -o program.elf
objcopy -R .comment --add-section .nv_fatbin=zstd.fatbin --add-section __nv_relfatbin=several.fatbin program.elf
