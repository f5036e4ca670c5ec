"""Counts where each operation ran. The counts are printed at the program's end."""

import collections
import threading

_lock = threading.Lock()
_calls = collections.Counter()  # (operation, where, why) -> calls
GPU, CPU = "gpu", "cpu"


def count(name, where, why=""):
    with _lock:
        _calls[name, where, why] += 1


def forget():
    with _lock:
        _calls.clear()


def counts():
    """Returns the calls so far: {operation: {"gpu": calls, "cpu": calls, "why": reasons for the CPU}}."""
    result = {}
    with _lock:
        items = list(_calls.items())
    for (name, where, why), calls in items:
        entry = result.setdefault(name, {GPU: 0, CPU: 0, "why": []})
        entry[where] += calls
        if why and why not in entry["why"]:
            entry["why"].append(why)
    return result


def _counted(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listed(names, most=12):
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def report():
    """Returns the counts as text. Empty if no operation was called."""
    with _lock:
        items = list(_calls.items())
    compiled = collections.Counter()
    computed = {}
    for (name, where, why), calls in items:
        if where == GPU:
            compiled[name] += calls
        else:
            computed.setdefault(why, collections.Counter())[name] += calls
    lines = []
    if compiled:
        lines.append(f"on the software GPU: {_counted(sum(compiled.values()), 'call')} of "
                     f"{_counted(len(compiled), 'operation')}, as Triton kernels: "
                     f"{_listed([name for name, _ in compiled.most_common()])}")
    for why, names in sorted(computed.items(), key=lambda each: -sum(each[1].values())):
        lines.append(f"on the CPU: {_counted(sum(names.values()), 'call')} of "
                     f"{_listed([name for name, _ in names.most_common()])} ({why})")
    return "".join(f"inflight.torch: {line}\n" for line in lines)
