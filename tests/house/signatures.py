#!/usr/bin/env python3
"""signatures.py COMPILER LIBRARY INCLUDE... compares the parameter lists of our entry points with the declarations in
NVIDIA's headers. C linkage hides a difference: a size_t that is typed as `unsigned` links, and is wrong.

Both are reduced to what the calling convention distinguishes: p (a pointer), iN and fN (an integer or a floating-point
number of N bytes), sN (a structure of N bytes), v (none). Ours are read from the preprocessed sources; those of the
headers come from the compiler. Exits with 77 if the headers are not there."""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))


class Library:
    """sources: patterns below gpu/. without: sources that are left out, which refuse what others do not define. headers:
    NVIDIA's. optional: more of
    them. own: our headers with the structures that are passed by value. flags: of the sources; they are compiled once
    more with `second`. absent: names that no header declares."""

    def __init__(self, sources, headers, optional=(), without=(), own=(), flags=(), second=None, defines=(), absent="", renamed=None):
        self.sources, self.headers, self.optional, self.without, self.own = sources, headers, optional, without, own
        self.flags, self.second, self.defines, self.absent, self.renamed = flags, second, defines, absent, renamed


RUNTIME = dict(headers=["cuda_runtime_api.h"], optional=["cuda_profiler_api.h"], second="-DINFLIGHT_PER_THREAD", own=["cuda/core/base/abi.hpp", "cuda/core/sharing/handle.hpp"])
COMPILED_CODE = "__cuda[A-Z].*"  # what nvcc's code calls; declared by no header that a program includes
LIBRARIES = {
    "driver": Library(["cuda/driver/*.cpp"], ["cuda.h"], optional=["cudaProfiler.h"], own=["cuda/core/base/abi.hpp", "cuda/core/sharing/handle.hpp"],
                      defines=["__CUDA_API_VERSION_INTERNAL"], absent="cuProfiler.*|cuGraphNodeGetParams"),  # new in 13.2
    "runtime": Library(["cuda/runtime/*.cpp"], without=["cuda12.cpp"], absent=f"{COMPILED_CODE}|inflight_.*|cudaGetDeviceProperties_v2|cudaEventElapsedTime_v2|cudaProfiler.*", **RUNTIME),
    # Calls that CUDA 12 has not, or has only from 12.8 on, are in the library too.
    "runtime12": Library(["cuda/runtime/*.cpp"], without=["cuda12.cpp"], renamed="cuda/exports/runtime12.names",
                         absent=f"{COMPILED_CODE}|inflight_.*|cudaLibrary.*|cudaLogs.*|cudaMem.*Batch.*|cudaMem[GS]et.*Pool|"
                                "cudaGetDriverEntryPointByVersion.*|cudaKernelSet.*|cudaStreamGetDevice.*|cudaDeviceGet.*AtomicCapabilities|"
                                "cudaEventElapsedTime_v2|cudaStreamGetCaptureInfo_v3.*|cudaStreamGetCaptureInfo|cudaGetDeviceProperties|cudaProfiler.*", **RUNTIME),
    "nvml": Library(["management/*.cpp"], ["nvml.h"], without=["refused.cpp"], own=["management/abi.hpp"],
                    defines=["NVML_NO_UNVERSIONED_FUNC_DEFS"]),
    "cublas": Library(["blas/*.cpp"], ["cublas_v2.h"], without=["refused.cpp", "status_names.cpp"], own=["blas/abi.hpp"],
                      flags=["-DINFLIGHT_MAJOR=13"], second="-DINFLIGHT_BLAS_64", absent="cublas[GS]etEnvironmentMode"),  # newer than 13.0
    "cublaslt": Library(["blas/lt/*.cpp"], ["cublasLt.h"], own=["blas/abi.hpp"], flags=["-DINFLIGHT_MAJOR=13"]),
    "curand": Library(["curand/*.cpp"], ["curand.h"], without=["refused.cpp", "device_math.cpp"], own=["curand/abi.hpp"]),
    "cufft": Library(["fft/*.cpp"], ["cufft.h", "cufftXt.h"], without=["refused.cpp"], own=["fft/abi.hpp"], flags=["-DINFLIGHT_MAJOR=13"]),
}

SHOW = """
#include <cstdio>
#include <type_traits>
template <class T> void one() {
  if constexpr (std::is_void_v<T>) std::fputs(" v", stdout);
  else if constexpr (std::is_pointer_v<T> || std::is_reference_v<T>) std::fputs(" p", stdout);
  else if constexpr (std::is_floating_point_v<T>) std::printf(" f%zu", sizeof(T));
  else if constexpr (std::is_class_v<T> || std::is_union_v<T>) std::printf(" s%zu", sizeof(T));
  else std::printf(" i%zu", sizeof(T));
}
template <class R, class... A> void show(const char* name, R (*)(A...)) {
  std::fputs(name, stdout), one<R>(), (one<A>(), ...), std::puts("");
}
template <class R, class... A> void show(const char* name, R (*)(A..., ...)) {
  std::fputs(name, stdout), one<R>(), (one<A>(), ...), std::puts(" ...");
}
"""


def fail(text):
    print(f"FAIL: {text}")
    sys.exit(1)


def preprocessed(compiler, text, flags, below=""):
    """The lines of files in the folder `below`."""
    run = subprocess.run([compiler, "-std=c++20", "-E", "-x", "c++", "-", *flags], input=text, capture_output=True, text=True)
    if run.returncode != 0:
        fail(run.stderr[:2000])
    kept, inside = [], True
    for line in run.stdout.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            inside = marker[1].startswith(below)
        elif inside:
            kept.append(line)
    return "\n".join(kept)


def printed(compiler, text, flags):
    """What a program prints. Nothing that it names is called, so nothing need be there."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "show")
        with open(program + ".cpp", "w") as file:
            file.write(text)
        run = subprocess.run([compiler, "-std=c++20", "-O0", "-w", "-no-pie", program + ".cpp", "-o", program,
                              "-Wl,--unresolved-symbols=ignore-all", *flags], capture_output=True, text=True)
        if run.returncode != 0:
            fail(run.stderr[:2000])
        lines = subprocess.run([program], capture_output=True, text=True).stdout.splitlines()
    return {name: signature for name, signature in (line.split(" ", 1) for line in lines)}


def parts(parameters):
    """The parameters, at the commas that are in no parentheses."""
    depth, begin, found = 0, 0, []
    for at, letter in enumerate(parameters + ","):
        depth += (letter in "(<[{") - (letter in ")>]}")
        if letter == "," and depth == 0:
            found.append(parameters[begin:at].strip())
            begin = at + 1
    return [part for part in found if part not in ("", "void")]


KNOWN = {"void": "v", "bool": "i1", "char": "i1", "unsigned char": "i1", "std::uint8_t": "i1", "short": "i2", "unsigned short": "i2",
         "int": "i4", "unsigned": "i4", "unsigned int": "i4", "std::int32_t": "i4", "std::uint32_t": "i4", "long": "i8",
         "long long": "i8", "unsigned long long": "i8", "std::size_t": "i8", "std::int64_t": "i8", "std::uint64_t": "i8",
         "std::ptrdiff_t": "i8", "float": "f4", "double": "f8", "...": "..."}
WORDS = {"unsigned", "int", "char", "short", "long", "float", "double", "bool"}


class Ours:
    def __init__(self, compiler, library):
        self.compiler, self.library, self.sizes = compiler, library, {}
        self.files = [file for pattern in library.sources for file in sorted(glob.glob(os.path.join(ROOT, "gpu", pattern)))
                      if os.path.basename(file) not in library.without]

    def text(self, *flags):
        includes = "".join(f'#include "{file}"\n' for file in self.files)
        return preprocessed(self.compiler, includes, ["-I" + ROOT, *self.library.flags, *flags], os.path.join(ROOT, "gpu"))

    def structure(self, name):
        if name not in self.sizes:
            text = "".join(f'#include "gpu/{header}"\n' for header in self.library.own) + SHOW
            bare = name.split("::")[-1]
            spaces = sorted(set(re.findall(r"namespace ([\w:]+) \{", "".join(open(os.path.join(ROOT, "gpu", header)).read() for header in self.library.own))))
            using = "".join(f"using namespace {space};\n" for space in spaces)
            self.sizes[name] = printed(self.compiler, f'{text}{using}int main() {{ show("x", (void (*)({bare}))nullptr); }}\n',
                                       ["-I" + ROOT, *self.library.flags])["x"].split()[-1]
        return self.sizes[name]

    def kind(self, text, spelled, named):
        spelled = re.sub(r"\[\[.*?\]\]|\b(const|enum|struct|inline)\b", "", spelled).strip()
        if re.search(r"[*&\[(]", spelled):
            return "p"
        words = spelled.split()
        if named and len(words) > 1 and words[-1] not in WORDS:
            words.pop()
        name = " ".join(words)
        if name in KNOWN:
            return KNOWN[name]
        bare = name.split("::")[-1]
        member = " *" if "::" in name else ""  # of a class; members of namespaces are not indented
        alias = re.search(rf"^{member}using {bare} = ([^;]+);", text, re.M)
        if alias:
            return self.kind(text, alias[1], False)
        enum = re.search(rf"^enum (?:class )?{bare}(?: : ([\w: ]+?))? \{{", text, re.M)
        if enum:
            return self.kind(text, enum[1] or "int", False)
        return self.structure(name)

    def signatures(self):
        found = self.signatures_with()
        return {**self.signatures_with(self.library.second), **found} if self.library.second else found

    def signatures_with(self, *flags):
        text, found = self.text(*flags), {}
        for entry in re.finditer(r'extern "C"\s+__attribute__\(\(visibility\("default"\)\)\)\s+([\w:\s*]+?)\b(\w+)\s*\(', text):
            at, depth = entry.end(), 1
            while depth:
                depth += {"(": 1, ")": -1}.get(text[at], 0)
                at += 1
            kinds = [self.kind(text, entry[1], False)] + [self.kind(text, part, True) for part in parts(text[entry.end():at - 1])]
            found.setdefault(entry[2], " ".join(kinds))
        return found


def theirs(compiler, library, names, includes):
    flags = ["-I" + include for include in includes]
    defines = "".join(f"#define {name}\n" for name in library.defines)
    optional = [header for header in library.optional if any(os.path.exists(os.path.join(each, header)) for each in includes)]
    headers = defines + "".join(f"#include <{header}>\n" for header in [*library.headers, *optional])
    text = preprocessed(compiler, SHOW + headers, flags)
    # Inline functions overload some names for older programs, and are no entry points.
    ours_too = set(names)
    text = re.sub(r"\b(static inline \w+) (\w+)(?=\s*\()", lambda found: f"{found[1]} {'inline_' * (found[2] in ours_too)}{found[2]}", text)
    declared = [name for name in names if re.search(rf"\b{name}\s*\(", text)]
    shows = "".join(f'  show("{name}", &::{name});\n' for name in declared)
    return printed(compiler, f"{text}\nint main() {{\n{shows}}}\n", [])


def ours(compiler, library):
    found = Ours(compiler, library).signatures()
    if library.renamed:  # cuda12.cpp has the names that CUDA 13 gives to other forms, which are called otherwise here
        lines = [line.split() for line in open(os.path.join(ROOT, "gpu", library.renamed)) if not line.startswith("#")]
        new_names = dict(line for line in lines if line)
        found = {new_names.get(name, name): kinds for name, kinds in found.items()}
        found.update(Ours(compiler, Library(["cuda/runtime/cuda12.cpp"], **RUNTIME)).signatures())
    return found


def main(compiler, name, includes):
    library = LIBRARIES[name]
    for header in library.headers:
        if not any(os.path.exists(os.path.join(include, header)) for include in includes):
            print(f"{header} is not in {' or '.join(includes)}")
            sys.exit(77)
    found = ours(compiler, library)
    stem = {each: re.sub(r"_pt[sd][sz]$", "", each) for each in found}  # of the per-thread default stream
    declared = theirs(compiler, library, sorted(set(found) | set(stem.values())), includes)
    status, compared = 0, 0
    for each, kinds in sorted(found.items()):
        wanted = declared.get(each) or declared.get(stem[each])
        if wanted is None:
            if not re.fullmatch(library.absent, stem[each]):
                print(f"FAIL: {each} is declared in no header; add it to `absent` if that is right")
                status = 1
            continue
        compared += 1
        if kinds != wanted.strip():
            print(f"FAIL: {each} is {kinds}, but {wanted.strip()} in the headers (the result comes first)")
            status = 1
    print(f"{name}: {compared} of {len(found)} entry points compared")
    sys.exit(status if compared else 1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
