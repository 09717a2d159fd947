# SPDX-License-Identifier: Apache-2.0
"""The recipes in packaging/: each is of this version, and what it names is there, in the sources or in an installation
of MARLINE_BUILD. Debian's packages are built with MARLINE_EXHAUSTIVE=1 only, which takes minutes."""

import os
import re
import shutil
from pathlib import Path

import pytest
import yaml
from conftest import BUILD, ROOT, checked

PACKAGING = ROOT / "packaging"
DEBIAN = PACKAGING / "debian"
EXHAUSTIVE = os.environ.get("MARLINE_EXHAUSTIVE", "") not in ("", "0")
VERSION = re.search(r"project\(marline VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
EASYBUILD = next((PACKAGING / "easybuild").glob("*.eb"))
VERSIONED = {
    "apptainer/marline.def": r"^    Version (\S+)$",
    "conda/meta.yaml": r'^{% set version = "(\S+)" %}$',
    "debian/changelog": r"\Amarline \(([^-]+)-\w+\)",
    f"easybuild/{EASYBUILD.name}": r"^version = '(\S+)'$",
    "spack/package.py": r'^    version\("([^"]+)"',
}


@pytest.fixture(scope="module")
def destination(tmp_path_factory) -> Path:
    """What lies below it has the places that a package with the prefix /usr gives it."""
    folder = tmp_path_factory.mktemp("destination")
    checked(["cmake", "--install", BUILD, "--prefix", folder / "usr"])
    return folder


@pytest.fixture(scope="module")
def prefix(destination) -> Path:
    return destination / "usr"


@pytest.mark.parametrize("recipe", VERSIONED)
def test_recipe_has_this_version(recipe):
    assert re.search(VERSIONED[recipe], (PACKAGING / recipe).read_text(), re.MULTILINE)[1] == VERSION


def test_every_recipe_is_tested():
    found = {str(path.relative_to(PACKAGING)) for kind in ("*.def", "*.eb", "*.yaml", "package.py", "changelog")
             for path in PACKAGING.rglob(kind)}  # fmt: skip
    assert found == set(VERSIONED)
    readme = (PACKAGING / "README.md").read_text()
    assert [recipe for recipe in VERSIONED if f"({recipe.split('/')[0]})" not in readme] == []


def test_spack_recipe_compiles():
    compile((PACKAGING / "spack" / "package.py").read_text(), "package.py", "exec")


def test_easybuild_finds_what_it_checks(prefix):
    recipe: dict = {"SHLIB_EXT": "so", "SOURCELOWER_TAR_GZ": ""}
    exec(compile(EASYBUILD.read_text(), EASYBUILD.name, "exec"), recipe)
    toolchain = recipe["toolchain"]
    assert EASYBUILD.name == f"Marline-{VERSION}-{toolchain['name']}-{toolchain['version']}.eb"
    paths = recipe["sanity_check_paths"]
    assert [name for name in paths["files"] if not (prefix / name).is_file()] == []
    assert [name for name in paths["dirs"] if not (prefix / name).is_dir()] == []
    assert (prefix / recipe["modextrapaths"]["LD_LIBRARY_PATH"] / "libgomp.so.1").is_file()


def conda_outputs() -> dict[str, dict]:
    text = (PACKAGING / "conda" / "meta.yaml").read_text()
    text = re.sub(r"^{%.*%}$", "", text, flags=re.MULTILINE)
    text = re.sub(r"{{(.*?)}}", lambda call: re.sub(r"\W+", "-", call[1]).strip("-"), text)
    return {output["name"]: output for output in yaml.safe_load(text)["outputs"]}


def test_conda_finds_what_it_checks(prefix):
    outputs = conda_outputs()
    assert set(outputs) == {"marline", "_openmp_mutex"}
    for output in outputs.values():
        for name in (output["script"], *output["test"].get("files", [])):
            assert (PACKAGING / "conda" / name).is_file()
    commands = [command for command in outputs["marline"]["test"]["commands"] if command.startswith("test -")]
    assert len(commands) == 4
    for command in commands:
        checked(["sh", "-c", command], PREFIX=str(prefix))


def test_conda_mutex_makes_marline_the_runtime_of_an_environment(prefix, tmp_path):
    if shutil.which("patchelf") is None:
        pytest.skip("skipped: patchelf is not installed")
    environment = shutil.copytree(prefix, tmp_path / "environment", symlinks=True)
    for script in ("build_mutex.sh", "test_mutex.sh"):
        checked(["sh", PACKAGING / "conda" / script], tmp_path, PREFIX=str(environment))


def test_apptainer_copies_what_the_build_needs():
    stage = (PACKAGING / "apptainer" / "marline.def").read_text().partition("Stage: final")[0]
    copied = re.findall(r"^    (\S+) /src/(\S+)$", stage, re.MULTILINE)
    assert [source for source, target in copied if source != target or not (ROOT / source).exists()] == []
    folders = re.findall(r"^add_subdirectory\((\w+)\)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert len(folders) >= 6
    named = re.search(r"^set\(named (.*?)\$", (PACKAGING / "CMakeLists.txt").read_text(), re.DOTALL | re.MULTILINE)[1]
    assert {*folders, *(file.partition("/")[0] for file in named.split())} <= {source for source, _ in copied}


def patterns(name: str) -> list[str]:
    """The first word of each line: another one would be the folder that it goes to."""
    return [line.split()[0] for line in (DEBIAN / name).read_text().splitlines()]


def files_of(destination: Path, names: list[str]) -> set[Path]:
    found = {path for name in names for path in destination.glob(name)}
    return {path for top in found for path in ([top] if not top.is_dir() else top.rglob("*")) if not path.is_dir()}


def test_debian_packages_share_out_what_is_installed(destination):
    lists = [path.name for path in DEBIAN.glob("*.install")]
    packages = re.findall(r"^Package: (\S+)$", (DEBIAN / "control").read_text(), re.MULTILINE)
    assert sorted(lists) == sorted(f"{package}.install" for package in packages)
    for name in (*lists, "not-installed"):
        for pattern in patterns(name):
            assert files_of(destination, [pattern]), f"{name}: {pattern}"
    shares = [files_of(destination, patterns(name)) for name in (*lists, "not-installed")]
    installed = {path for path in destination.rglob("*") if not path.is_dir()}
    assert set().union(*shares) == installed
    assert sum(len(share) for share in shares) == len(installed)


@pytest.fixture(scope="module")
def probe(tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("probe") / "a.out"
    checked(["cc", "-fopenmp", ROOT / "tests" / "e2e" / "programs" / "probe.c", "-o", program])
    return program


def runs_without_headers(root: Path, probe: Path) -> None:
    output = checked([root / "usr" / "bin" / "marline", "run", "-t", "2", "--", probe])
    library = Path(re.search(r"library=(\S+)", output)[1]).resolve()
    assert library.parent == (root / "usr" / "lib").resolve() and library.name.startswith("libmarline.so")
    assert "threads=2" in output


def test_command_needs_no_headers(destination, probe, tmp_path):
    """Debian's package of headers has libmarline.so, too."""
    copy = shutil.copytree(destination, tmp_path / "root", symlinks=True)
    for path in files_of(copy, patterns("libmarline-dev.install")):
        if path.name != "libmarline.so" or path.is_symlink():  # MARLINE_PORTABLE: it is the library
            path.unlink()
    runs_without_headers(copy, probe)
    assert "install Marline again" not in checked([copy / "usr" / "bin" / "marline", "info"])


@pytest.mark.skipif(not EXHAUSTIVE, reason="skipped: MARLINE_EXHAUSTIVE=1 builds Debian's packages")
def test_debian_packages(destination, probe, tmp_path):
    checked(["make", "deb"], ROOT, 3000)
    packages = {path.name.partition("_")[0]: path for path in (ROOT / "build" / "deb").glob("*.deb")}
    assert {"marline", "libmarline0", "libmarline-dev", "marline-doc", "marline-dbgsym"} <= set(packages)
    if shutil.which("lintian") is not None:
        changes = (ROOT / "build" / "deb").glob("*.changes")
        assert checked(["lintian", "--allow-root", "--fail-on", "error,warning", *changes]) == ""
    for name in ("marline", "libmarline0"):
        checked(["dpkg-deb", "--extract", packages[name], tmp_path])
    runs_without_headers(tmp_path, probe)
    # debhelper has renamed none.
    names = ("marline.install", "libmarline0.install")
    wanted = {path.relative_to(destination) for path in files_of(destination, [p for n in names for p in patterns(n)])}
    found = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if not path.is_dir()}
    assert {path for path in wanted if path.name != "marline.1"} <= found  # which is compressed
