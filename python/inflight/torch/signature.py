"""Splits a call into the part that a kernel is compiled for and the values passed at each call."""

import torch

# Operations whose number changes from call to call, as in optimizers, with the number as a tensor.
FORMULAS = {
    "add.Tensor": lambda self, other, alpha: self + other * alpha,
    "add_.Tensor": lambda self, other, alpha: self.add_(other * alpha),
    "sub.Tensor": lambda self, other, alpha: self - other * alpha,
    "sub_.Tensor": lambda self, other, alpha: self.sub_(other * alpha),
    "addcmul": lambda self, tensor1, tensor2, value: self + value * tensor1 * tensor2,
    "addcmul_": lambda self, tensor1, tensor2, value: self.add_(value * tensor1 * tensor2),
    "addcdiv": lambda self, tensor1, tensor2, value: self + value * (tensor1 / tensor2),
    "addcdiv_": lambda self, tensor1, tensor2, value: self.add_(value * (tensor1 / tensor2)),
    "lerp.Scalar": lambda self, end, weight: torch.lerp(self, end, weight),
    "lerp_.Scalar": lambda self, end, weight: self.lerp_(end, weight),
    "fill_.Scalar": lambda self, value: self.fill_(value),
}


def _described(value):
    """Returns a hashable description of an argument: the properties that a kernel is compiled for."""
    if isinstance(value, torch.Tensor):
        return (value.dtype, value.device, tuple(n if n < 2 else -1 for n in value.shape), value.is_contiguous(),
                value.dim() > 0 and 0 in value.stride())
    if isinstance(value, (list, tuple)):
        return tuple(_described(each) for each in value)
    return type(value), value


def _has_tensor(value):
    if isinstance(value, (list, tuple)):
        return any(_has_tensor(each) for each in value)
    return isinstance(value, torch.Tensor)


def _plain(value, seen):
    """Returns the value detached from autograd. The caller keeps the version counter. One tensor maps to one."""
    if isinstance(value, (list, tuple)):
        return [_plain(each, seen) for each in value]
    if not isinstance(value, torch.Tensor):
        return value
    if id(value) not in seen:
        seen[id(value)] = value.data
    return seen[id(value)]


def taking_numbers(op, named):
    """Returns the overload for numbers if PyTorch passes a number where this one takes a tensor."""
    types = {argument.name: str(argument.type) for argument in op._schema.arguments}
    number = any(types[key] == "Tensor" and isinstance(value, (int, float, complex)) for key, value in named.items())
    return op.overloadpacket if number else op


class Signature:
    """A call: a kernel is compiled for `kind`. `values`, for the argument names in `given`, are passed each time."""

    def __init__(self, op, name, named):
        self.formula = None
        self.given, self.values, kind = [], [], []
        # A number takes the type of the tensors in the call, as a tensor without dimensions does beside
        # these.
        tensors = [value for value in named.values() if isinstance(value, torch.Tensor)]
        meets = bool(tensors) and all(t.is_floating_point() and t.dim() > 0 for t in tensors)
        types = {argument.name: str(argument.type) for argument in op._schema.arguments}
        seen = {}
        for key, value in named.items():
            number = meets and type(value) is float
            if number and types[key] == "number" and name in FORMULAS:
                self.formula = FORMULAS[name]
            if _has_tensor(value):
                self._give(key, _plain(value, seen))
                kind.append((key, _described(value)))
            elif number and (types[key] == "Tensor" or self.formula):
                self._give(key, torch.tensor(value, dtype=torch.float64))
                kind.append((key, float))
            else:
                kind.append((key, _described(value)))
        self.fixed = {key: value for key, value in named.items() if key not in self.given}
        self.kind = tuple(kind)

    def _give(self, key, value):
        self.given.append(key)
        self.values.append(value)

    def function(self, op):
        """Returns the call as a function of `values`."""
        call, given, fixed = self.formula or taking_numbers(op, self.fixed), tuple(self.given), self.fixed
        return lambda values: call(**dict(zip(given, values)), **fixed)
