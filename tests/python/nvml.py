"""NVML through NVIDIA's own bindings, nvidia-ml-py: what monitoring tools show of the software GPU, and the calls
that Numba uses."""
import os

import numpy as np
import pynvml
from numba import cuda

checked = 0


def equal(what, mine, wanted):
    global checked
    checked += 1
    if mine != wanted:
        raise SystemExit(f"{what}: {mine!r}, not {wanted!r}")


pynvml.nvmlInit()
equal("devices", pynvml.nvmlDeviceGetCount(), 1)
gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
equal("processes", pynvml.nvmlDeviceGetComputeRunningProcesses(gpu), [])
used = pynvml.nvmlDeviceGetMemoryInfo(gpu, version=pynvml.nvmlMemory_v2).used

device = cuda.get_current_device()
array = cuda.to_device(np.zeros(1 << 20))
equal("name", pynvml.nvmlDeviceGetName(gpu), device.name)
equal("uuid", pynvml.nvmlDeviceGetUUID(gpu), str(device.uuid))
equal("capability", pynvml.nvmlDeviceGetCudaComputeCapability(gpu), device.compute_capability)
equal("bus", pynvml.nvmlDeviceGetPciInfo(gpu).bus, device.PCI_BUS_ID)
equal("by bus id", pynvml.nvmlDeviceGetIndex(pynvml.nvmlDeviceGetHandleByPciBusId("0000:%02x:%02x.0" % (device.PCI_BUS_ID, device.PCI_DEVICE_ID))), 0)
memory = pynvml.nvmlDeviceGetMemoryInfo(gpu, version=pynvml.nvmlMemory_v2)
equal("memory", memory.used - used >= array.nbytes, True)
free, total = cuda.current_context().get_memory_info()
equal("memory's sum", (memory.total, memory.free), (total, free))
equal("process", [each.pid for each in pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)], [os.getpid()])
rates = pynvml.nvmlDeviceGetUtilizationRates(gpu)
equal("utilization", 0 <= rates.gpu <= rates.memory <= 100, True)
equal("driver", pynvml.nvmlSystemGetDriverVersion().split(".")[0], "580")
for ask in (pynvml.nvmlDeviceGetPowerUsage, pynvml.nvmlDeviceGetFanSpeed, pynvml.nvmlDeviceGetSerial):
    try:
        ask(gpu)
        equal(ask.__name__, "answered", "refused")
    except pynvml.NVMLError_NotSupported:
        checked += 1
try:
    pynvml.nvmlDeviceGetHandleByIndex(1)
    equal("a second device", "there", "none")
except pynvml.NVMLError_InvalidArgument as error:
    equal("its error", str(error), "Invalid Argument")
pynvml.nvmlShutdown()
print(f"{checked} answers of NVML are right")
