"""A kernel runs until it reaches an unsupported instruction. Python gets the error when it waits, and with
INFLIGHT_STRICT at the launch."""
import os
import re
import subprocess
import sys

import numpy as np
import triton
import triton.language as tl
from arrays import Tensor, empty_like


@triton.jit
def doubled(x, out, BLOCK: tl.constexpr, FIRST: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * 2)
    if tl.program_id(0) >= FIRST:
        tl.inline_asm_elementwise("tcgen05.wait::ld.sync.aligned; mov.b32 $0, $1;", "=r,r", [at], dtype=tl.int32,
                                  is_pure=False, pack=1)


def tell(what, call):
    try:
        print(what, call())
    except Exception as error:
        print(what, re.search("illegal instruction|operation not supported|ILLEGAL_INSTRUCTION", str(error))[0])


if sys.argv[1:] == ["kernels"]:
    x = Tensor(np.arange(512, dtype=np.float32))
    out = empty_like(x)
    tell("not reached:", lambda: doubled[(4, )](x, out, BLOCK=128, FIRST=4) and (out.numpy() == 2 * x.numpy()).all())
    tell("launched:", lambda: doubled[(4, )](x, out, BLOCK=128, FIRST=2) is not None)
    tell("reached:", out.numpy)
    sys.exit()


def outcome(**variables):
    done = subprocess.run([sys.executable, "-W", "ignore", __file__, "kernels"], capture_output=True, text=True,
                          env={**os.environ, **variables})
    assert done.returncode == 0, done
    return done.stdout, done.stderr


told, sentences = outcome()
assert told == "not reached: True\nlaunched: True\nreached: ILLEGAL_INSTRUCTION\n", told
assert re.search(r"not supported in kernel doubled: tcgen05\.wait::ld\.sync\.aligned \(.*\n"
                 r"  source: .*unsupported_instruction\.py:19", sentences), sentences
told, sentences = outcome(INFLIGHT_STRICT="1")
assert told.startswith("not reached: operation not supported\n"), told
assert sentences.count("kernel doubled was not launched, because it needs") == 1, sentences
