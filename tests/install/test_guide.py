# SPDX-License-Identifier: Apache-2.0
"""What the README and the guide print is run as it is printed, by a user without rights, on a Marline that pip has
installed from the wheel (pages.py says how blocks are read), and the installed examples. Under MARLINE_EXHAUSTIVE=1 all
pages, in a clean root of Debian 13 with its compilers and its Open MPI; always some of them, in an environment on this
machine. The commands that cannot run there say so on their page; each of them is a case that is skipped, with the
reason."""

import re
import shutil
from pathlib import Path

import clean_root
import first_minutes
import pages
import pytest
from conftest import HERE, ROOT, checked

PACKAGES = ("python3-venv ca-certificates procps pkg-config gcc g++ gfortran libc6-dev libopenmpi-dev openmpi-bin "
            "clang-19 clang-tools-19 libomp-19-dev libclang-rt-19-dev llvm-19 libomp5-19 xz-utils").split()  # fmt: skip
# Pages whose commands take a second in all: they run in each `make check`.
CHEAP = ("locality.md", "priorities.md", "writing-tasks.md", "discovery.md")
# Pages whose ./app is no MPI program, but the one of this page.
DEVICE_PAGES = {"cluster.md": "cluster.md", "data-races.md": "studies.md", "nodes.md": "nodes.md",
                "devices.md": "cluster.md", "gpus-without-waiting.md": "cluster.md"}  # fmt: skip
BLOCKS = {page.name: pages.blocks(page) for page in pages.PAGES}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LEFT_OUT = [(block, command, needs) for of_page in BLOCKS.values() for block in of_page
            for command, needs in block.split()[1]]  # fmt: skip
HANGING = "./wrong"  # of the tutorial: it does not end
# For machines with few cores and unknown launchers; `marline check` and `marline ps` say by their status what they saw.
BEGIN = """
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PIP_QUIET=1
export OMPI_MCA_rmaps_default_mapping_policy=:oversubscribe
marline() {
  status=0
  command marline "$@" || status=$?
  case "$1 $status" in "check 123" | "ps 1") return 0 ;; *) return $status ;; esac
}
job_hangs() {
  for i in $(seq 300); do
    if command marline ps $1 2>/dev/null | grep -q HUNG; then return; fi
    sleep 0.2
  done
  echo "the job does not hang"; exit 1
}
"""
START = """if [ -z "${job:-}" ]; then
  command marline run -n 2 -t 1 ./program_that_hangs hang & job=$!
  job_hangs $job
fi"""


EXAMPLES = """
cd {doc}/tests/programs/examples
for at in events graph names priorities progress speculation spmv; do
  gcc -fopenmp $at.c $(pkg-config --cflags --libs marline) -lm -o {here}/$at
done
g++ -std=c++17 -fopenmp spmv.cpp $(pkg-config --cflags --libs marline) -o {here}/spmv_cpp
cd {here}
gfortran -fopenmp {prefix}/include/marline/marline.f90 {doc}/tests/programs/examples/spmv.f90 \
  $(pkg-config --libs marline) -o spmv_f90
for at in events graph names priorities progress speculation spmv spmv_cpp spmv_f90; do marline run -t 2 ./$at; done
echo all examples ran
"""


def examples(prefix: str, here: str) -> str:
    """As their pages say: compiled where they are installed, with the flags of pkg-config."""
    script = EXAMPLES.format(doc=f"{prefix}/share/doc/marline", prefix=prefix, here=here)
    return f"set -e\nexport PKG_CONFIG_PATH={prefix}/lib/pkgconfig PATH={prefix}/bin:$PATH{script}"


def script_of(page: Path, prefix: str, version: str) -> str:
    """The page's commands, block after block, in a folder with the files that the page takes for granted."""
    app = ("../guide_app.c", "mpicc") if page.name not in DEVICE_PAGES else (f"../{DEVICE_PAGES[page.name]}.c", "gcc")
    parts = [BEGIN, f"mkdir -p pages/{page.stem} && cd pages/{page.stem} && ln -sf ~/dist/* .",
             f"export PREFIX={prefix}",
             f"cp {app[0]} app.c && {app[1]} -g -fopenmp app.c -o app && cp app a.out",
             "mpicc -g -fopenmp ../guide_app.c -o mpi_app && cp mpi_app program_that_hangs",
             "gcc -fopenmp ../cluster.md.c -o gpu_app",
             "cp -n ../programs/* . ; echo 'import json' > train.py"]  # fmt: skip
    for block in BLOCKS[page.name]:
        if block.is_program:
            parts.append(f"cat > {block.name} <<'END_OF_PROGRAM'\n{block.text}END_OF_PROGRAM")
        commands = "\n".join(block.split()[0])
        if not commands:
            continue
        for word, meant in (("VERSION", version), ("DIR/", f"{prefix}/"), ("PREFIX/", f"{prefix}/")):
            commands = re.sub(rf"(?<![\w/$]){word}" if word != "VERSION" else word, meant, commands)
        commands, waits = re.subn(r"(marline ps )(PID|\d+)\b", r"\1$job", commands)
        begin = ""
        if HANGING in commands:
            commands = re.sub(rf"^(marline run .*{HANGING})$", r"command \1 & job=$!; job_hangs $job", commands,
                              flags=re.MULTILINE)  # fmt: skip
        elif waits:
            begin = START
        parts.append(f"echo '== {block.place}'\nset -e\n{begin}\n{commands}\nset +e")
    parts.append('if [ -n "${job:-}" ]; then kill $job; wait $job; fi; true')
    return "\n".join(parts) + "\n"


def shape(text: str) -> str:
    return re.sub(r"\d[\d.e+]*", "N", text)


def check_printed(page: Path, output: str) -> None:
    """Of programs that the page prints: their lines, but for the numbers."""
    parts = dict(re.findall(r"^== (\S+)\n(.*?)(?=^== |\Z)", output, re.DOTALL | re.M))
    own = [Path(block.name).stem for block in BLOCKS[page.name] if block.is_program]
    for block in BLOCKS[page.name]:
        if block.printed() and any(re.search(rf"\b{name}\b", block.text) for name in own):
            lines = [shape(line) for line in parts[block.place].splitlines()]
            assert [line for line in block.printed() if shape(line) not in lines] == [], parts[block.place]


def prepare(home: Path, dist: Path) -> None:
    """What the pages' commands find in the folder above theirs."""
    shutil.copytree(dist, home / "dist")
    shutil.copytree(ROOT / "docs" / "guide" / "programs", home / "pages" / "programs")
    shutil.copy(HERE / "guide_app.c", home / "pages")
    for page in set(DEVICE_PAGES.values()):
        program = next(block.text for block in BLOCKS[page] if block.is_program)
        (home / "pages" / f"{page}.c").write_text(program)


def version_of(dist: Path) -> str:
    return next(dist.glob("*.whl")).name.split("-")[1]


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_no_command_is_overlooked(page):
    """Each is in a block of commands, runs Marline if it sets its variables, and says by known words what it needs."""
    for block in BLOCKS[page.name]:
        assert block.kind or not [line for line in block.text.splitlines() if pages.COMMAND.match(line)], block.place
        assert block.name or not block.is_program, f"{block.place}: the text before this program names no file"
        for command in block.split()[0]:
            assert not re.match(r"(MARLINE|HWLOC)_\w+=", command) or "marline" in command or "LD_" in command, command
    assert [place for place, _, needs in LEFT_OUT if not pages.reasons(needs)] == []


@pytest.mark.parametrize(("block", "command", "needs"), LEFT_OUT,
                         ids=[f"{block.place}: {command[:60]}" for block, command, _ in LEFT_OUT])  # fmt: skip
def test_left_out(block, command, needs):
    pytest.skip(f"needs {needs}: {'; '.join(pages.reasons(needs))}")


@pytest.mark.parametrize("name", CHEAP)
def test_page_on_this_machine(dist, prefix, tmp_path, name):
    for tool in ("mpicc", "gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    page = next(page for page in pages.PAGES if page.name == name)
    prepare(tmp_path, dist)
    script = f"export HOME={tmp_path} PATH={prefix}/bin:$PATH\ncd\n" + script_of(page, str(prefix), version_of(dist))
    check_printed(page, checked(["bash", "-c", script], **AS_ROOT))


def test_examples_on_this_machine(prefix, tmp_path):
    for tool in ("gcc", "g++", "gfortran", "pkg-config"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    assert "all examples ran" in checked(["bash", "-c", examples(str(prefix), str(tmp_path))])


def test_installed_pages_lead_somewhere(prefix):
    """Links of the README, the index and the guide: what they name is installed."""
    doc = prefix / "share" / "doc" / "marline"
    found = [doc / "README.md", *(doc / "docs").glob("*.md"), *(doc / "docs" / "guide").glob("*.md")]
    links = [(page, link) for page in found for link in re.findall(r"\]\(([^)\s#]+)", page.read_text())
             if "://" not in link]  # fmt: skip
    assert len(links) > 300
    assert [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()] == []


@pytest.fixture(scope="module")
def root(dist, tmp_path_factory):
    """A user of Debian 13 with the wheel installed in ~/venv."""
    clean_root.skip_if_impossible()
    root = clean_root.CleanRoot(tmp_path_factory.mktemp("guide") / "root", "trixie", PACKAGES)
    prepare(root.home, dist)
    root.run("chown -R user /home/user", user="root")
    root.run("python3 -m venv venv && venv/bin/pip install --quiet \"$(ls dist/*.whl)[study]\"")
    yield root
    root.remove()


@pytest.mark.parametrize("page", [page for page in pages.PAGES if any(b.split()[0] for b in BLOCKS[page.name])],
                         ids=lambda page: page.name)  # fmt: skip
def test_page_in_a_clean_root(root, dist, page):
    script = script_of(page, "/home/user/venv", version_of(dist))
    (root.home / f"{page.stem}.sh").write_text(". ~/venv/bin/activate\n" + script)
    check_printed(page, root.run(f"bash {page.stem}.sh 2>&1"))


def test_examples_in_a_clean_root(root):
    root.run("mkdir examples")
    assert "all examples ran" in root.run(examples("/home/user/venv", "/home/user/examples"))


def test_the_recording_can_be_made_again(root, dist):
    """docs/results/first-ten-minutes.md: the commands still print what it is made of."""
    root.run("cp dist/*.whl .")
    first_minutes.take_programs(root)
    text, ended = first_minutes.page(root.run(first_minutes.script(version_of(dist)) + "true"))
    assert len(ended) == len([line for line in first_minutes.COMMANDS.splitlines() if not line.startswith("#")])
    for words in ("biggest loss", "HUNG: nothing moves", "status 124", "rank 1: 28", "3 devices"):
        assert words in text
