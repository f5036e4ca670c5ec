"""Runs PyTorch's own operator database under inflight.torch and counts results: equal to the CPU, refused or wrong.

operators.py [--part K/N] [--types T,...] [--only NAME,...] [--known FILE] [--list FILE] [--seconds S]

Calls each operator on both devices, in each of its types, with three of its samples: the first, the middle one and
the last. Compares results and, if there are any, gradients. `--part K/N` takes those whose name and type have the
CRC-32 K modulo N, the same in every run. Cases run in their own processes, since some end the process. The run
fails on a failure that the file of known ones lacks, and on a known one that no longer occurs.
"""
import argparse
import collections
import json
import os
import select
import subprocess
import sys
import time
import zlib

TYPES = "float32 float64 float16 bfloat16 complex64 int64 int32 uint8 bool".split()
EQUAL, SHAPED, REFUSED, WRONG = "equal", "shaped", "refused", "wrong"
MEANINGS = {EQUAL: "equal to the CPU's", SHAPED: "random or uninitialised: of the same shape and type",
            REFUSED: "refused with a sentence", WRONG: "wrong"}
MOST_SAMPLES = 400  # most samples per operator that are counted; some have thousands
CASE_SECONDS = 300
SENTENCES = ("inflight", "no kernel image", "not implemented for", "not supported", "cannot capture")


def part_of(case, parts):
    return zlib.crc32(case.encode()) % parts


class Worker:
    """A process that receives cases and answers each with one line."""

    def __init__(self):
        self.process = None

    def ask(self, case):
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, "-W", "ignore", __file__, "--work"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.process.stdin.write(case + "\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], CASE_SECONDS)
            line = self.process.stdout.readline() if ready else ""
        except BrokenPipeError:
            line, ready = "", True
        if line:
            answer = json.loads(line)
            if answer.pop("lost", False):
                self.end()
            return answer
        status = self.end() if ready else None
        self.end()
        return {"outcome": WRONG, "why": f"the process ended with {status}" if ready else f"longer than {CASE_SECONDS} s"}

    def end(self):
        if self.process is None:
            return None
        process, self.process = self.process, None
        try:
            process.stdin.close()
            return process.wait(10)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            process.kill()
            return process.wait()


def read_known(path):
    """Parses lines 'CASE OUTCOME  # cause'."""
    known = {}
    with open(path) as lines:
        for line in lines:
            words = line.partition("#")[0].split()
            if words:
                known[words[0]] = words[1]
    return known


def drive(options):
    cases = subprocess.run([sys.executable, "-W", "ignore", __file__, "--cases"], capture_output=True, text=True, check=True)
    number, parts = map(int, options.part.split("/"))
    only = options.only.split(",") if options.only else None
    types = options.types.split(",")
    chosen = [case for case in cases.stdout.split() if part_of(case, parts) == number
              and case.rsplit(":", 1)[1] in types and (only is None or case.rsplit(":", 1)[0] in only)]
    known = read_known(options.known) if options.known else {}
    worker, counts, news = Worker(), collections.Counter(), []
    begin = time.monotonic()
    listed = open(options.list, "a") if options.list else None
    for case in chosen:
        if options.seconds and time.monotonic() - begin > options.seconds:
            break
        answer = worker.ask(case)
        outcome = answer["outcome"]
        counts[outcome] += 1
        if listed:
            print(case, outcome, "#", answer["why"], file=listed, flush=True)
        expected = known.get(case, EQUAL)
        if outcome == expected or (expected == EQUAL and outcome == SHAPED):
            continue
        news.append(case)
        print(f"{case} {outcome}  # {answer['why']}" if outcome != EQUAL else f"{case} is equal now", flush=True)
    worker.end()
    print(f"{sum(counts.values())} of {len(chosen)} cases of {len(cases.stdout.split())}: "
          + ", ".join(f"{counts[outcome]} {text}" for outcome, text in MEANINGS.items()))
    return bool(news) or not counts


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("--only")
    parser.add_argument("--known")
    parser.add_argument("--list")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--work", action="store_true")
    parser.add_argument("--cases", action="store_true")
    return parser.parse_args()


# The code below runs only in the workers, which import PyTorch.


def database():
    from torch.testing._internal import common_methods_invocations as module
    # It sets the same seed each time, which would hide that a result is random.
    module.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)
    return {f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}": op for op in module.op_db}


def list_cases():
    import torch
    for name, op in database().items():
        both = op.supported_dtypes("cuda") & op.supported_dtypes("cpu")
        for kind in TYPES:
            if getattr(torch, kind) in both:
                print(f"{name.replace(' ', '_')}:{kind}")


def tolerance(kind):
    import torch
    return {torch.float32: (1e-4, 1e-5), torch.float64: (1e-7, 1e-8), torch.float16: (1e-2, 2e-3), torch.complex64: (1e-4, 1e-5),
            torch.bfloat16: (3e-2, 1e-2)}.get(kind, (0, 0))


class Differs(Exception):
    pass


def covers_its_memory(tensor):
    return tensor.is_contiguous() and tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()


def moved(values):
    """Moves values to the GPU. Leaves of autograd stay leaves, and views keep the memory around them."""
    import torch
    from torch.utils._pytree import tree_map

    def one(value):
        if isinstance(value, torch.Tensor):
            plain = value.detach()
            if plain.layout != torch.strided or plain.is_conj() or plain.is_neg() or covers_its_memory(plain):
                return plain.to("cuda").requires_grad_(value.requires_grad)
            memory = torch.empty(0, dtype=plain.dtype).set_(plain.untyped_storage()).to("cuda")
            view = memory.as_strided(plain.shape, plain.stride(), plain.storage_offset())
            return view.requires_grad_(value.requires_grad)
        if isinstance(value, (str, torch.device)) and str(value) == "cpu":
            return "cuda"
        return value

    return tree_map(one, values)


def compare(actual, expected, shape_only, what, kind):
    import torch
    from torch.utils._pytree import tree_leaves
    mine, theirs = tree_leaves(actual), tree_leaves(expected)
    if len(mine) != len(theirs):
        raise Differs(f"{what}: {len(mine)} values, not {len(theirs)}")
    for one, other in zip(mine, theirs):
        if not isinstance(other, torch.Tensor):
            if not shape_only and one != other and one == one and not str(other) == "cpu":
                raise Differs(f"{what}: {one!r}, not {other!r}")
            continue
        if one.shape != other.shape or one.dtype != other.dtype:
            raise Differs(f"{what}: {tuple(one.shape)} {one.dtype}, not {tuple(other.shape)} {other.dtype}")
        if shape_only:
            one.cpu()
            continue
        relative, absolute = max(tolerance(kind), tolerance(other.dtype))
        try:
            torch.testing.assert_close(one.cpu(), other.cpu(), rtol=relative, atol=absolute, equal_nan=True)
        except AssertionError as error:
            raise Differs(f"{what}: " + " ".join(str(error).split())[:200]) from None


def gradients(result, inputs):
    """Returns the gradients of the sum of all differentiable results, for the inputs that require one."""
    import torch
    from torch.utils._pytree import tree_leaves
    leaves = [value for value in tree_leaves(inputs) if isinstance(value, torch.Tensor) and value.requires_grad]
    results = [value for value in tree_leaves(result) if isinstance(value, torch.Tensor) and value.requires_grad]
    if not leaves or not results:
        return []
    ones = [torch.ones(value.shape, dtype=value.dtype).to(value.device) for value in results]
    return torch.autograd.grad(results, leaves, ones, allow_unused=True)


def is_random(op):
    """Returns whether the operator's results are random or uninitialised by definition."""
    import torch
    name = op.name.rsplit(".", 1)[-1]
    packet = getattr(torch.ops.aten, name, None) or getattr(torch.ops.aten, op.aten_name, None)
    tagged = packet is not None and any(torch.Tag.nondeterministic_seeded in getattr(packet, overload).tags
                                        for overload in packet.overloads())
    words = ("empty", "dropout", "rand", "multinomial", "lowrank", "bernoulli", "resize")
    return tagged or name == "normal" or any(word in name for word in words)


def run_case(name, kind):
    import torch
    op = database_of_worker[name]
    torch.manual_seed(zlib.crc32(f"{name}:{kind}".encode()))
    dtype = getattr(torch, kind)
    with_gradient = op.supports_autograd and dtype in op.supported_backward_dtypes("cuda") & op.supported_backward_dtypes("cpu")
    samples = []
    for sample in op.sample_inputs("cpu", dtype, requires_grad=with_gradient):
        samples.append(sample)
        if len(samples) == MOST_SAMPLES:
            break
    random = is_random(op)
    for at in sorted({0, len(samples) // 2, len(samples) - 1}) if samples else ():
        sample = samples[at]
        mine = (sample.input, sample.args, sample.kwargs)
        theirs = moved(mine)
        try:
            expected = outcome_of(op, mine, with_gradient, 1)
        except Exception as error:  # such as types that the CPU has no kernel for
            return {"outcome": SHAPED, "why": f"the CPU itself fails: {type(error).__name__}"}
        actual = outcome_of(op, theirs, with_gradient, 1)
        try:
            compare(actual, expected, random, f"sample {at}", dtype)
        except Differs:  # such as attention with dropout
            again = outcome_of(op, mine, with_gradient, 2)
            if agrees(again, expected, dtype):
                raise
            random = True
            compare(actual, expected, random, f"sample {at}", dtype)
    return {"outcome": SHAPED if random else EQUAL, "why": ""}


def outcome_of(op, inputs, with_gradient, seed):
    """Returns the operator's result and the gradients."""
    import torch
    torch.manual_seed(seed)
    result = op(inputs[0], *inputs[1], **inputs[2])
    return result, gradients(result, inputs) if with_gradient else []


def agrees(one, other, dtype):
    try:
        compare(one, other, False, "", dtype)
    except Differs:
        return False
    return True


def work():
    global database_of_worker
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import torch
    import inflight.torch
    inflight.torch.enable()
    os.environ["INFLIGHT_TORCH_REPORT"] = "0"
    database_of_worker = {name.replace(" ", "_"): op for name, op in database().items()}
    for line in sys.stdin:
        name, kind = line.strip().rsplit(":", 1)
        try:
            answer = run_case(name, kind)
        except Differs as error:
            answer = {"outcome": WRONG, "why": str(error)}
        except Exception as error:
            text = " ".join(f"{type(error).__name__}: {error}".split())[:240]
            spoken = any(sentence in text for sentence in SENTENCES)
            answer = {"outcome": REFUSED if spoken else WRONG, "why": text}
            answer["lost"] = "CUDA error" in text or "AcceleratorError" in text
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    arguments = parse()
    if arguments.work:
        work()
    elif arguments.cases:
        list_cases()
    else:
        sys.exit(drive(arguments))
