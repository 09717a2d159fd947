# SPDX-License-Identifier: Apache-2.0
"""Where Marline cannot be, or not alone, the program's OpenMP runtime, `marline run` ends with 125 and one line that
says why. Real binaries, one per way in which a swap of the runtime fails."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest


def assert_refused(result, *texts: str, status: int = 125) -> None:
    assert result.returncode == status, result.stdout + result.stderr
    lines = [line for line in result.stderr.splitlines() if "note:" not in line]
    assert len(lines) == 1, result.stderr
    for text in ("marline: ", *texts):
        assert text in lines[0]


def gcc_file(name: str) -> str:
    words = ["gcc-12", f"-print-file-name={name}"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def with_static_runtime(compiled) -> Path:
    return compiled("gcc-12", "probe.c", "-fopenmp", "-Wl,-Bstatic", "-lgomp", "-Wl,-Bdynamic", "-ldl")


def test_static_program(marline, compiled):
    program = compiled("gcc-12", "probe.c", "-fopenmp", "-static", "-w")
    assert_refused(marline("run", program), str(program), "statically linked", "without -static")


def test_static_openmp(marline, with_static_runtime):
    assert_refused(marline("run", with_static_runtime), "statically linked OpenMP runtime", "defines GOMP_parallel")


def test_static_openmp_without_symbols(marline, with_static_runtime, tmp_path):
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, with_static_runtime], check=True)
    assert_refused(marline("run", stripped), "statically linked, stripped OpenMP runtime")


def test_static_openmp_that_only_the_process_shows(marline, compiled, tmp_path):
    """A shell that starts the program keeps the check before the start from seeing it: the one inside must."""
    program = compiled("gcc-12", "probe.c", "-fopenmp", "-rdynamic", "-Wl,-Bstatic", "-lgomp", "-Wl,-Bdynamic", "-ldl")
    assert_refused(marline("run", "sh", "-c", f"{program}"), f"{program} takes GOMP_parallel", "linked into that file")


def test_stock_runtime_preloaded(marline, compiled):
    program = compiled("gcc-12", "probe.c", "-fopenmp")
    stock = gcc_file("libgomp.so.1")
    result = marline("run", program, LD_PRELOAD=stock)
    assert_refused(result, f"takes GOMP_parallel from {stock}", "out of LD_PRELOAD")
    assert result.stdout == ""  # refused before its first instruction


def test_plugin_bound_to_its_own_runtime_by_rpath(marline, compiled):
    host = compiled("gcc-12", "plugin_host.c")
    folder = Path(gcc_file("libgomp.so.1")).resolve().parent
    plugin = compiled("gcc-12", "plugin.c", "-fopenmp", "-shared", "-fPIC", f"-Wl,--disable-new-dtags,-rpath,{folder}")
    assert marline("run", host, plugin).returncode == 0
    result = marline("run", host, plugin, "deepbind")
    assert_refused(result, f"{plugin} takes GOMP_parallel from {folder}", "RTLD_DEEPBIND", f"RPATH {folder}")


def test_bundled_runtime_of_another_name(marline, compiled, tmp_path):
    """As in Python wheels: libgomp-a34b3233.so.1, next to the library that uses it."""
    name = "libgomp-a34b3233.so.1"
    bundled = tmp_path / name
    shutil.copy(compiled("gcc-12", "bundled_runtime.c", "-shared", "-fPIC", f"-Wl,-soname,{name}"), bundled)
    host = compiled("gcc-12", "plugin_host.c")
    plugin = tmp_path / "plugin.so"
    source = Path(__file__).parents[1] / "programs" / "plugin.c"
    compile_plugin = ["gcc-12", "-fopenmp", "-c", "-fPIC", source, "-o", tmp_path / "plugin.o"]
    link_plugin = ["gcc-12", "-shared", tmp_path / "plugin.o", bundled, "-Wl,-rpath,$ORIGIN", "-o", plugin]
    subprocess.run(compile_plugin, check=True)
    subprocess.run(link_plugin, check=True)
    harmless = marline("run", "-t", "2", "--", host, plugin)
    assert (harmless.returncode, harmless.stdout) == (0, "threads=2\n")
    result = marline("run", "-t", "2", "--", host, plugin, "deepbind")
    assert_refused(result, f"{plugin} takes GOMP_parallel from", name, "without RTLD_DEEPBIND")
    assert result.stdout == "threads=1\n"


def test_another_marline_preloaded(marline, build, compiled, tmp_path):
    copy = tmp_path / "libmarline.so"
    shutil.copy(build / "lib" / "libmarline.so", copy)
    program = compiled("gcc-12", "probe.c", "-fopenmp")
    assert_refused(marline("run", program, LD_PRELOAD=str(copy)), f"from {copy}", "out of LD_PRELOAD")


def test_setuid_program(marline, compiled, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can make another user's setuid program")
    program = tmp_path / "setuid"
    shutil.copy(compiled("gcc-12", "probe.c", "-fopenmp"), program)
    os.chown(program, 1, 1)
    program.chmod(0o4755)
    assert_refused(marline("run", program), str(program), "is setuid")


def test_program_of_another_machine(marline, compiled):
    program = compiled("aarch64-linux-gnu-gcc-12", "plugin_host.c")
    assert_refused(marline("run", program), "built for aarch64", status=126)


def test_what_is_no_program(marline, tmp_path):
    text = tmp_path / "text"
    text.write_text("no program")
    assert_refused(marline("run", text), "is not an executable file", "chmod +x", status=126)
    text.chmod(0o755)
    assert_refused(marline("run", text), "is not an ELF file", "as #!/bin/sh does", status=126)
    text.write_bytes(b"\x7fELF\x02\x01" + bytes(20))
    assert_refused(marline("run", text), "damaged ELF file", status=126)
    text.write_bytes(b"")
    assert_refused(marline("run", text), "is empty", status=126)
    text.write_bytes(Path("/bin/sh").read_bytes()[:1000])
    assert_refused(marline("run", text), "damaged ELF file", "copy or build it again", status=126)
    assert_refused(marline("run", tmp_path / "absent"), "no such program", status=127)
    assert_refused(marline("run", tmp_path), "is a directory, not a program", status=126)
    assert_refused(marline("run", ""), "'': no such program", status=127)


@pytest.mark.parametrize("line", ["#!/absent/interpreter", "#!/usr/bin/env absent"])
def test_script_without_its_interpreter(marline, tmp_path, line):
    script = tmp_path / "script"
    script.write_text(f"{line}\n")
    script.chmod(0o755)
    assert_refused(marline("run", script), str(script), f"asks for {line.split()[-1].removeprefix('#!')}", status=127)


def test_devices_that_there_are_not(marline, compiled):
    """Of a program without target regions, too, whose process has nothing that knows devices."""
    program = compiled("gcc-12", "probe.c", "-fopenmp")
    assert_refused(marline("run", "--devices", "process,bogus", program), "no device is named 'bogus'", status=2)
    assert_refused(marline("run", "--devices", "host:0", program), "'host:0' needs a number from 1 to 256", status=2)
    assert_refused(marline("run", "--devices", "none,host", program), "no device is named 'none'", status=2)


def test_the_command_knows_the_devices_of_the_option(marline):
    page = (Path(__file__).parents[3] / "docs" / "options.md").read_text()
    values = re.search(r"`MARLINE_DEVICES` \| `\w+` \| (.*), with N from 1 to (\d+) \|", page)
    words = re.sub("or a list of | and", ",", values[1]).replace(" ", "").split(",")
    known = [*(word for word in words if word), f"most\t{values[2]}"]
    assert marline("facts", "devices").stdout.splitlines() == known


def test_program_for_a_newer_system(marline, tmp_path):
    """As one that needs a newer glibc: its library lacks the version of a symbol that it was linked with."""
    (tmp_path / "library.c").write_text("int newer(void) { return 0; }\n")
    (tmp_path / "program.c").write_text("int newer(void);\nint main(void) { return newer(); }\n")
    library, program = tmp_path / "libnewer.so", tmp_path / "program"
    for version in ("NEWER_2", "NEWER_1"):
        (tmp_path / "map").write_text(f"{version} {{ global: newer; }};\n")
        words = ["gcc-12", "-shared", "-fPIC", tmp_path / "library.c", "-o", library, "-Wl,-soname,libnewer.so",
                 f"-Wl,--version-script={tmp_path / 'map'}"]  # fmt: skip
        subprocess.run(words, check=True)
        if not program.exists():
            subprocess.run(["gcc-12", tmp_path / "program.c", "-o", program, library, f"-Wl,-rpath,{tmp_path}"],
                           check=True)  # fmt: skip
    result = marline("run", program)
    assert result.returncode == 127
    assert result.stderr == (
        f"marline: {program} needs version NEWER_2 of {library}, which has no such version: it was built on a newer "
        "system; build it on this one, or name the folder of a newer library in LD_LIBRARY_PATH\n"
    )


def test_missing_library_is_the_loaders_to_tell(marline, compiled, tmp_path):
    library = tmp_path / "libgone.so"
    shutil.copy(compiled("gcc-12", "bundled_runtime.c", "-shared", "-fPIC", "-Wl,-soname,libgone.so"), library)
    program = compiled("gcc-12", "probe.c", "-fopenmp", "-Wl,--no-as-needed", str(library))
    library.unlink()
    result = marline("run", program)
    assert result.returncode == 127
    assert "libgone.so: cannot open shared object file" in result.stderr
