"""Tables that route each operation, with reasons, by PyTorch's operation names and public tags."""

import fnmatch
from enum import Enum

import torch


class Place(Enum):
    KEEP = "PyTorch's own: memory and views, which need no kernel"
    GPU = "a Triton kernel that Inductor writes"
    PARTS = "the operations that it consists of"
    CHANCE = "random numbers, on the CPU"
    CPU = "the CPU"


# Operations without a kernel: they allocate, make views, copy plain memory or only read properties.
KEPT = frozenset("""
    as_strided _reshape_alias view view_as_real view_as_complex unfold empty.memory_format empty_strided
    set_ set_.source_Storage set_.source_Storage_storage_offset set_.source_Tensor resize_ is_set_to
    _local_scalar_dense record_stream _efficientzerotensor _nested_view_from_buffer
""".split())

# Operations that Inductor writes kernels for, besides those with the tags `pointwise` and `reduction`.
COMPILED = frozenset("""
    _softmax _softmax_backward_data _log_softmax _log_softmax_backward_data
    native_layer_norm native_layer_norm_backward native_group_norm native_group_norm_backward
    native_batch_norm native_batch_norm_backward _fused_rms_norm _fused_rms_norm_backward
    _prelu_kernel _prelu_kernel_backward elu_backward glu glu_backward hardshrink_backward hardsigmoid_backward
    hardswish hardswish_ hardswish_backward hardtanh_backward leaky_relu_backward mish_backward mish_
    softplus_backward softshrink_backward log_sigmoid_forward log_sigmoid_backward threshold_ gelu_
    mse_loss mse_loss_backward smooth_l1_loss smooth_l1_loss_backward huber_loss binary_cross_entropy
    binary_cross_entropy_backward nll_loss_forward nll_loss_backward nll_loss2d_forward nll_loss2d_backward
    cat flip roll tril tril_ triu triu_ rsub.Tensor floor_divide floor_divide_.Tensor addr
    index.Tensor index_select gather embedding_dense_backward take
    scatter.src scatter.value scatter_.src scatter_.value scatter_add scatter_add_ index_add index_add_
    fill_.Scalar fill_.Tensor zero_ masked_fill_.Scalar masked_fill_.Tensor copysign_.Tensor
    eq_.Scalar eq_.Tensor ne_.Scalar ne_.Tensor lt_.Scalar lt_.Tensor le_.Scalar le_.Tensor
    gt_.Scalar gt_.Tensor ge_.Scalar ge_.Tensor heaviside_
    avg_pool2d avg_pool2d_backward max_pool2d_with_indices max_pool2d_with_indices_backward
    _adaptive_avg_pool2d _adaptive_avg_pool2d_backward
    upsample_nearest2d upsample_nearest2d_backward upsample_bilinear2d reflection_pad2d replication_pad2d
""".split())

# Arguments that make Inductor's kernel of an operation wrong if they are true.
MISCOMPILED = {"avg_pool2d_backward": ("ceil_mode",)}  # windows that end past the padding are divided by too much

# Operations on lists, run as simpler operations.
IN_PARTS = ("_foreach_*",)

# Operations of every device that would choose between NVIDIA's libraries or start kernels themselves. They
# are replaced as a whole.
WHOLE = ("convolution", "convolution_backward", "ldexp.Tensor", "ldexp.out", "ldexp_")

# Computed on the CPU except while a CUDA graph captures them. PyTorch's own kernels use cuBLAS, and so the
# host's BLAS, which a machine may lack.
CAPTURED = frozenset("mm mm.out bmm bmm.out addmm addmm.out baddbmm baddbmm.out addmv addmv.out dot".split())

# Why an operation is computed on the CPU: the first matching pattern counts. The last matches all.
REASONS = (
    ("matrix products, which the wheel takes from cuBLAS",
     "mm mm.* bmm bmm.* addmm addmm.* addmm_ baddbmm baddbmm.* baddbmm_ addbmm* addmv* dot vdot _int_mm* _scaled_mm* "
     "_scaled_addmm* _grouped_mm _scaled_grouped_mm* _addmm_activation* _foreach_mm _weight_int*pack_mm "
     "_convert_weight_to_int4pack"),
    ("convolutions, which the wheel takes from cuDNN", "*conv* *cudnn*"),
    ("linear algebra, which the wheel takes from cuSOLVER",
     "linalg_* _linalg_* *cholesky* geqrf* ormqr* triangular_solve* lu_unpack*"),
    ("Fourier transforms, which the wheel takes from cuFFT", "_fft_*"),
    ("the shape of the result depends on the data",
     "nonzero* _unique* unique_* masked_select* bincount repeat_interleave.Tensor"),
    ("Inductor writes no kernel of its own", "*"),
)


def name_of(op):
    """Returns an operation's name as in PyTorch's own tables: add.Tensor, relu."""
    return op._schema.name.split("::")[1] + (f".{op._schema.overload_name}" if op._schema.overload_name else "")


def reason(name):
    for text, patterns in REASONS:
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split()):
            return text
    raise AssertionError(name)


def answers_tensors(op):
    return all(str(each.type) in ("Tensor", "List[Tensor]") for each in op._schema.returns)


def place_of(op):
    name = name_of(op)
    if name in KEPT:
        return Place.KEEP
    if any(fnmatch.fnmatchcase(name, pattern) for pattern in IN_PARTS):
        return Place.PARTS
    if torch.Tag.nondeterministic_seeded in op.tags:
        return Place.CHANCE
    tagged = torch.Tag.pointwise in op.tags or torch.Tag.reduction in op.tags
    if (tagged or name in COMPILED) and answers_tensors(op):
        return Place.GPU
    return Place.CPU
