"""Compiles the kernels into the wheel: one library of all signatures that they declare, see `bgfmt/jit/compiled.py`.

Numba makes LLVM's code of each kernel (`Dispatcher.inspect_llvm`), once for each level of processor. Here they are
linked; each that Python calls gets a function that takes its arguments from a block of memory; LLVM writes machine
code, and the C compiler makes a library of it.
Without a C compiler the wheel has no library and needs numba, as a checkout does. BGFMT_LEVELS=all compiles for all
levels and not for this machine's alone.

`python hatch_build.py` makes the library by itself, in a folder of `build` which it prints, unless it is there. A
checkout uses it where BGFMT_KERNELS names that folder. `make test` does that: tests run as they would with a wheel.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
DECLARED = "declared.txt"
NUMBA = "numba>=0.60"
#: levels of processor, and what a processor of each has
LEVELS: dict[str, tuple[str, ...]] = {"generic": ()}
if platform.machine() in ("x86_64", "AMD64"):
    LEVELS = {
        "x86-64-v2": ("sse4.2", "popcnt"),
        "x86-64-v3": ("avx2", "bmi", "bmi2", "fma"),
        "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    }
SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")

HEAD = 512  # as `bgfmt.jit.compiled` has it


def numba_type(form: str) -> Any:
    """Numba's type of a form, see `bgfmt.jit.compiled.form`."""
    numba: Any = import_module("numba")
    name, bracket, parts = form.partition("(")
    if bracket:
        kinds = [numba_type(one) for one in split(parts[:-1])]
        module, _, named = name.partition(":")
        if not name:
            return numba.types.Tuple(kinds)
        return numba.types.NamedTuple(kinds, getattr(import_module(module), named))
    number, _, array = form.partition(".")
    kind = getattr(numba.types, np.dtype("?" if number == "b1" else number).name)
    return numba.types.Array(kind, int(array[0]), array[1], aligned="U" not in array) if array else kind


def form_of(kind: Any) -> str:
    """The form of what a kernel returns."""
    types: Any = import_module("numba").types
    if kind == types.none:
        return ""
    if isinstance(kind, types.BaseTuple):
        return f"({','.join(form_of(one) for one in kind)})"
    if isinstance(kind, types.Array):
        return f"{form_of(kind.dtype)}.{kind.ndim}{kind.layout}"
    number = np.dtype(str(kind))
    return f"{number.kind}{number.itemsize}"


def split(forms: str) -> list[str]:
    """The parts of a text between the commas that are in no bracket."""
    parts, depth = [""], 0
    for character in forms:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part]


def declared(only: Sequence[str] = ()) -> list[str]:
    """Return "module:kernel signature" of all kernels of the package, or of these; their modules are imported."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    jit: Any = import_module("bgfmt.jit")
    for path in sorted((ROOT / "bgfmt").rglob("*.py")):
        if re.search(r"^@njit\(", path.read_text("utf-8"), re.MULTILINE):
            import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    chosen = (kernel for kernel in jit.kernels if kernel.name.startswith("bgfmt.") and kernel.signatures)
    return sorted(
        f"{kernel.name} {signature}"
        for kernel in chosen
        if not only or kernel.name in only
        for signature in kernel.signatures
    )


class Functions:
    """Compiles kernels, each once for each form of its arguments; calls between them are left for LLVM to link.

    Numba by itself would put the code of a kernel into each kernel that calls it, and those into their callers.
    """

    def __init__(self) -> None:
        numba: Any = import_module("numba")
        jit: Any = import_module("bgfmt.jit")
        self._compiled: dict[tuple[str, Any], Any] = {}
        options = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        self._dispatchers = {kernel.name: numba.njit(**options)(kernel.py_func) for kernel in jit.kernels}
        import_module("bgfmt.jit.vectors")
        for kernel in jit.kernels:
            self._declare(kernel)

    def _declare(self, kernel: Any) -> None:
        """Tell numba what a kernel returns to other kernels that call it, and how they call it."""
        extending: Any = import_module("numba.extending")
        types: Any = import_module("numba").types

        def typing(context: Any) -> Any:
            def returned(*arguments: Any) -> Any:
                return self.compile(kernel.name, arguments).signature.return_type

            returned.pysig = inspect.signature(kernel.py_func)  # type: ignore[attr-defined]
            return returned

        def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            compiled = self.compile(kernel.name, signature.args)
            return context.call_internal(builder, compiled.fndesc, signature, arguments)

        extending.type_callable(kernel)(typing)
        extending.lower_builtin(kernel, types.VarArg(types.Any))(call)

    def compile(self, name: str, types: tuple[Any, ...]) -> Any:
        """Return numba's result for a kernel and the types of its arguments."""
        if (name, types) not in self._compiled:
            dispatcher = self._dispatchers[name]
            dispatcher.compile(types)
            self._compiled[name, types] = dispatcher.overloads[types]
        return self._compiled[name, types]

    def texts(self) -> Iterator[str]:
        """Yield LLVM's text of each compiled kernel."""
        for name, types in self._compiled:
            yield self._dispatchers[name].inspect_llvm(types)


def entry_point(module: Any, native: Any, symbol: str) -> str:
    """Return LLVM's text of a function `symbol` that takes a block and calls the function `native` of a module."""
    kinds = [str(argument.type) for argument in native.arguments]
    lines, values = [], ["ptr %block", "ptr %error"]
    for number, kind in enumerate(kinds[2:]):
        lines.append(f"%at{number} = getelementptr i8, ptr %block, i64 {HEAD + 8 * number}")
        held = "i8" if kind == "i1" else kind
        lines.append(f"%held{number} = load {held}, ptr %at{number}")
        if kind == "i1":
            lines.append(f"%value{number} = trunc i8 %held{number} to i1")
        values.append(f"{kind} %{'value' if kind == 'i1' else 'held'}{number}")
    body = "\n".join(lines)
    return (
        f'target triple = "{module.triple}"\ntarget datalayout = "{module.data_layout}"\n'
        f'declare i32 @"{native.name}"({", ".join(kinds)})\n'
        f'define i32 @"{symbol}"(ptr %block) {{\n%error = getelementptr i8, ptr %block, i64 {HEAD - 8}\n{body}\n'
        f'%status = call i32 @"{native.name}"({", ".join(values)})\nret i32 %status\n}}\n'
    )


def compile_part(folder: Path, level: str, part: int, parts: int) -> dict[str, dict[str, list[str]]]:
    """Write machine code of a part of the kernels for a level into `object_of`; the list of its functions.

    `build` sets NUMBA_OPT=0, because numba would optimise each kernel by itself, before LLVM can inline others.
    """
    import llvmlite.binding as llvm

    gc.disable()  # the process ends soon, and has the memory
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    lines = (folder / DECLARED).read_text("ascii").splitlines()
    own = range(part * len(lines) // parts, (part + 1) * len(lines) // parts)
    names = [lines[number].partition(" ") for number in own]
    for name, _, _ in names:
        import_module(name.partition(":")[0])
    functions = Functions()
    listed: dict[str, dict[str, list[str]]] = {}
    native: dict[str, str] = {}
    for number, (name, _, forms) in zip(own, names, strict=True):
        print(f"kernels for {level}: {number + 1} of {len(lines)}, {name}", file=sys.stderr, flush=True)
        compiled = functions.compile(name, tuple(map(numba_type, split(forms))))
        listed.setdefault(name, {})[forms] = [f"bgfmt_{number}", form_of(compiled.signature.return_type)]
        native[f"bgfmt_{number}_{level}"] = compiled.fndesc.llvm_func_name
    print(f"kernels for {level}: linking", file=sys.stderr, flush=True)
    whole = llvm.parse_assembly("")
    for text in functions.texts():
        code = llvm.parse_assembly(text)
        whole.triple, whole.data_layout = code.triple, code.data_layout
        whole.link_in(code)
    for symbol, name in native.items():
        whole.link_in(llvm.parse_assembly(entry_point(whole, whole.get_function(name), symbol)))
    keep(whole, set(native))
    target = llvm.Target.from_triple(whole.triple)
    machine = target.create_target_machine(
        cpu="" if level == "generic" else level, opt=3, reloc="pic", codemodel="small"
    )
    optimise(whole, machine)
    print(f"kernels for {level}: writing machine code", file=sys.stderr, flush=True)
    object_of(folder, level, part).write_bytes(machine.emit_object(whole))
    return listed


def object_of(folder: Path, level: str, part: int) -> Path:
    return folder / f"{level}-{part}.o"


def host_levels() -> list[str]:
    """The levels to compile for: all of them where BGFMT_LEVELS is `all`, else this machine's own."""
    features: Any = import_module("llvmlite.binding").get_host_cpu_features()
    have = [needed for needed in LEVELS if all(features.get(one) for one in LEVELS[needed])]
    return list(LEVELS) if os.environ.get("BGFMT_LEVELS") == "all" else have[-1:]


def keep(module: Any, symbols: set[str]) -> None:
    """Remove from a module all that the functions do not need; what calls Python is among it."""
    import llvmlite.binding as llvm

    for value in [*module.functions, *module.global_variables]:
        if not value.is_declaration and value.name not in symbols:
            value.linkage = "internal"
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    machine = llvm.Target.from_triple(module.triple).create_target_machine()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0)))


def optimise(module: Any, machine: Any) -> None:
    """Optimise a module in two passes, because reference counts can only be removed after inlining.

    The first pass inlines and simplifies; the second also unrolls and vectorises.
    """
    import llvmlite.binding as llvm

    for speed_level in (1, 3):
        print(f"kernels: optimising, level {speed_level}", file=sys.stderr, flush=True)
        options = llvm.create_pipeline_tuning_options(speed_level=speed_level)
        options.loop_vectorization = speed_level == 3
        options.slp_vectorization = speed_level == 3
        options.loop_unrolling = speed_level == 3
        builder = llvm.create_pass_builder(machine, options)
        passes = builder.getModulePassManager()
        passes.add_refprune_pass()
        passes.run(module, builder)


def build(folder: Path, levels: Sequence[str], only: Sequence[str] = ()) -> list[Path]:
    """Make the library of kernels, or of these, and its list in a folder; their paths, none without a C compiler."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None or not levels:
        return []
    (folder / DECLARED).write_text("\n".join(declared(only)), "ascii")
    workers = os.cpu_count() or 1
    parts = min(4, workers)  # each compiles by itself what its kernels share with those of others
    tasks = [(level, part) for level in levels for part in range(parts)]
    settings = {"NUMBA_OPT": "0", "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1"}

    def list_of(task: tuple[str, int]) -> dict[str, dict[str, list[str]]]:
        level, part = task
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), **settings}
        if level != "generic":
            environment |= {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""}
        command = [sys.executable, __file__, str(folder), level, str(part), str(parts)]
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        found: dict[str, dict[str, list[str]]] = json.loads(done.stdout)
        return found

    kernels: dict[str, dict[str, list[str]]] = {}
    with ThreadPoolExecutor(workers) as pool:
        for found in pool.map(list_of, tasks):
            for name, functions in found.items():
                kernels.setdefault(name, {}).update(functions)
    path, listed = folder / f"kernels{SUFFIX}", folder / "kernels.json"
    objects = [str(object_of(folder, *task)) for task in tasks]
    runtime = str(ROOT / "bgfmt" / "jit" / "runtime.c")
    # a symbol that nothing defines is an error here, and not where the library is loaded
    more = ["-s", "-Wl,-z,defs"] if sys.platform.startswith("linux") else []
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", *more, "-o", str(path), runtime, *objects, "-lm"], check=True
    )
    text = json.dumps({"library": path.name, "levels": list(levels), "kernels": kernels}, indent=1)
    listed.write_text(text, "ascii")
    return [path, listed]


def digest(levels: Sequence[str]) -> str:
    """Return a name for the library of this package as it is now, for these levels, by this numba."""
    parts = [import_module("numba").__version__, sys.version, *levels, Path(__file__).read_text("utf-8")]
    sources = [*(ROOT / "bgfmt").rglob("*.py"), *(ROOT / "bgfmt" / "jit").glob("*.c")]
    parts += [f"{path.relative_to(ROOT)}\n{path.read_text('utf-8')}" for path in sorted(sources)]
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def platform_tag(library: Path) -> str:
    """What a wheel with the library runs on: on Linux versions of glibc from the latest it asks for; this machine."""
    versions = [int(version) for version in re.findall(rb"GLIBC_2\.(\d+)", library.read_bytes())]
    if sys.platform.startswith("linux") and versions and os.environ.get("BGFMT_LEVELS") == "all":
        return f"manylinux_2_{max(17, *versions)}_{platform.machine()}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def library() -> list[Path]:
    """Return the library for this machine and its list, none without a C compiler; make them if they are not there.

    pip builds twice, first for the metadata: the second finds them.
    """
    levels = host_levels()
    folder = ROOT / "build" / f"kernels-{digest(levels)}"
    found = [folder / f"kernels{SUFFIX}", folder / "kernels.json"]
    if all(path.exists() for path in found):
        return found
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as making:
        made = build(Path(making), levels)
        for path in made:
            os.replace(path, folder / path.name)
    return [folder / path.name for path in made]


class Kernels(BuildHookInterface):  # type: ignore[type-arg]
    """Hatch's hook."""

    PLUGIN_NAME = "kernels"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        made = [] if version == "editable" else library()
        if not made:
            build_data["dependencies"].append(NUMBA)
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(made[0])}"
        for path in made:
            build_data["force_include"][str(path)] = f"bgfmt/jit/{path.name}"


if __name__ == "__main__":
    if sys.argv[1:]:
        target, level, part, parts = sys.argv[1:]
        json.dump(compile_part(Path(target), level, int(part), int(parts)), sys.stdout)
    else:
        print(*{path.parent for path in library()})
