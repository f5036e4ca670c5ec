"""The reference pages, of what the program says of itself: its help, the rules in a SARIF report, `inflight devices`,
and which exported names have a definition of their own."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools", "reference"))
import help_text  # noqa: E402

GENERATED = "This page is made of what `{}` says.\n"


def cell(text):
    return text.replace("|", "\\|")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows]) + "\n"


def commands_page(program):
    whole, commands = help_text.commands(program)
    out = ["# Commands and options\n", whole.summary, GENERATED.format("inflight --help"),
           table(("command", "what it does"), [(f"[`{each.name}`](#inflight-{each.name})", each.text)
                                               for each in whole.entries("Subcommands")])]
    for each in commands:
        out += [f"## inflight {each.name}\n", each.summary[:1].upper() + each.summary[1:] + ".\n", f"```text\n{each.usage}\n```\n"]
        for title, section in (("argument", "Positionals"), ("option", "Options")):
            rows = [(f"`{entry.name}`", f"`{entry.variable}`" if entry.variable else "", entry.meaning)
                    for entry in each.entries(section)]
            if rows:
                out.append(table((title, "variable", "meaning"), rows))
        out.append(each.notes + "\n")
    return "\n".join(out)


def kinds_page(program, pages):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "kinds.sarif")
        subprocess.run([program, "check", "--report", report, "true"], check=True, capture_output=True)
        with open(report) as file:
            rules = json.load(file)["runs"][0]["tool"]["driver"]["rules"]
    rows = []
    for rule in rules:
        # The pages that show a kernel with this mistake have a heading of its name.
        shown = f"[`{rule['id']}`](mistakes.md#{rule['id']})" if f"\n## {rule['id']}\n" in pages["docs/mistakes.md"] else \
            f"[`{rule['id']}`](checking.md#how-to-read-a-report)"
        level = {"note": "advice"}.get(rule["defaultConfiguration"]["level"], rule["defaultConfiguration"]["level"])
        rows.append((shown, level, rule["shortDescription"]["text"]))
    return "\n".join(["# Kinds of finding\n", GENERATED.format("inflight check --report FILE.sarif"),
                      "Their names are stable: suppressions, baselines and code scanning use them.\n",
                      table(("kind", "level", "what it means"), rows)])


def devices_page(program):
    text = subprocess.run([program, "devices"], check=True, capture_output=True, text=True).stdout
    return f"# Devices\n\n{GENERATED.format('inflight devices')}\n```text\n{text}```\n"


def names_of(library):
    """A library's exported functions, and whether each has more than the definition that all names have, a weak one."""
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in listing.splitlines():
        _, kind, name = line.split()
        if kind in "TW":
            found[name.split("@")[0]] = kind == "T" or found.get(name.split("@")[0], False)
    return found


def api_page(libraries):
    out = ["# Functions of CUDA\n", "Every name that CUDA's own library exports is there. One that is not supported says so once and returns "
           "`cudaErrorNotSupported` or its like. This page is made of the libraries' own tables of names; what a supported function "
           "does not do stands in [what it does not do](limits.md) and the pages that it leads to.\n"]
    counts, lists = [], []
    for file, what in (("libcudart.so.13", "runtime of CUDA 13"), ("libcudart.so.12", "runtime of CUDA 12"),
                       ("libcuda.so.1", "driver"), ("libcublas.so.13", "cuBLAS"), ("libcublasLt.so.13", "cublasLt"),
                       ("libcufft.so.12", "cuFFT"), ("without_ptx/libcurand.so.10", "cuRAND"),
                       ("libnvidia-ml.so.1", "NVML")):
        names = names_of(os.path.join(libraries, file))
        there, not_there = ([name for name in sorted(names) if names[name] == wanted] for wanted in (True, False))
        counts.append((f"`{file}`", what, str(len(names)), str(len(there)), str(len(not_there))))
        for title, chosen in (("not supported", not_there), ("supported", there)):
            if chosen:
                lists += [f"## {file}: {title}\n", "{.names}", "\\\n".join(f"`{name}`" for name in chosen) + "\n"]
    return "\n".join(out + [table(("library", "what it is", "names", "supported", "not supported"), counts)] + lists)


def pages(program, libraries, texts):
    return {"reference/commands.md": ("Commands and options", commands_page(program)),
            "reference/kinds.md": ("Kinds of finding", kinds_page(program, texts)),
            "reference/devices.md": ("Devices", devices_page(program)),
            "reference/api.md": ("Functions of CUDA", api_page(libraries))}
