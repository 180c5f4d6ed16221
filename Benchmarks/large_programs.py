"""Programs that are generated because they would be too large to keep: many symbols, much debug information."""

import subprocess
import tempfile
from pathlib import Path

from programs import FOLDER, compile_c

SYMBOL_BYTES = 100_000_000
DEBUG_BYTES = 1_000_000_000


def with_many_symbols(programs, name):
    """The target, linked with 100 MB of functions' symbols."""
    source = FOLDER / f"targets/{name}.c"

    def make(path):
        with tempfile.TemporaryDirectory() as work:
            assembly = Path(work, "symbols.s")
            write_symbols(assembly)
            # Static, so that the linker keeps what nobody calls without exporting it.
            compile_c([source, assembly, "-o", path])

    return programs.made(f"{name}-symbols", [source, Path(__file__)], make)


def write_symbols(path):
    # An entry of a symbol table has 24 bytes (elf(5), Elf64_Sym), its name here 60 and a zero.
    count = SYMBOL_BYTES // (24 + 60 + 1)
    with path.open("w") as file:
        file.write(".text\n")
        for number in range(count):
            name = f"symbol_{number:07}".ljust(60, "x")
            file.write(f".type {name}, @function\n{name}: ret\n.balign 16\n.size {name}, 16\n")
        file.write('.section .note.GNU-stack,"",@progbits\n')


def with_much_debug_information(programs):
    """The loop, whose stalls pass through units of a program with 1 GB of debug information."""
    sources = [FOLDER / "targets/loop.c", FOLDER / "targets/chain.h", Path(__file__)]
    return programs.made("loop-debug", sources, make_loop_with_debug_information)


def make_loop_with_debug_information(path):
    with tempfile.TemporaryDirectory(dir=path.parent) as work:
        folder = Path(work)
        unit = folder / "unit.c"
        unit.write_text(unit_source())
        words = ["-I", FOLDER / "targets", "-fno-eliminate-unused-debug-types", "-c"]
        compile_c([*words, unit, "-o", folder / "unit.o"])
        count = -(-DEBUG_BYTES // debug_bytes(folder / "unit.o"))
        objects = [folder / f"unit{number}.o" for number in range(count)]
        for number, file in enumerate(objects):
            rename = ["objcopy", f"--redefine-sym=enter=enter_{number}", folder / "unit.o", file]
            subprocess.run(rename, check=True)
        (folder / "chain.c").write_text(chain_source(count))
        (folder / "objects").write_text("\n".join(map(str, objects)))
        compile_c(
            [
                "-I",
                FOLDER / "targets",
                FOLDER / "targets/loop.c",
                folder / "chain.c",
                f"@{folder}/objects",
                "-o",
                path,
            ]
        )


def debug_bytes(file):
    """The size of the sections that hold debug information, as `size -A` gives it."""
    listing = subprocess.run(["size", "-A", file], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in listing.splitlines() if line.startswith(".debug_")]
    # Equal texts are stored once by the linker.
    return sum(int(row[1]) for row in rows if not row[0].endswith("str"))


def unit_source():
    """Many types, and a function that calls the next link through an inlined one."""
    structures = []
    for number in range(2000):
        members = "".join(f"int m{member:02};" for member in range(100))
        structures.append(f"struct s{number} {{ {members} }};")
    return "\n".join(
        [
            '#include "chain.h"',
            *structures,
            "static inline __attribute__((always_inline)) void inlined(struct chain *rest) {",
            "  rest->call(rest->rest);",
            '  __asm__ volatile("" ::: "memory");',
            "}",
            "void enter(struct chain *rest) {",
            "  inlined(rest);",
            '  __asm__ volatile("" ::: "memory");',
            "}",
        ]
    )


def chain_source(count):
    """Eight units, evenly spread, are on the stack."""
    chosen = [count * index // 8 for index in range(8)]
    links = [
        f"  struct chain link{i} = {{enter_{chosen[i]}, {f'&link{i + 1}' if i < 7 else 'innermost'}}};"
        for i in range(8)
    ]
    return "\n".join(
        [
            '#include "chain.h"',
            *[f"void enter_{number}(struct chain *rest);" for number in sorted(set(chosen))],
            "void through_units(struct chain *innermost);",
            "void through_units(struct chain *innermost) {",
            *reversed(links),
            "  link0.call(link0.rest);",
            '  __asm__ volatile("" ::: "memory");',
            "}",
            "",
        ]
    )
