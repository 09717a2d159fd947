# SPDX-License-Identifier: Apache-2.0
# The short way to each job; CMake presets do the work. Everything is built under build/<preset>.
JOBS   ?= $(shell nproc)
PREFIX ?= /usr/local
BUILD   = build/release
# The processor that `make wheel` packs for: this machine's, or aarch64, which x86_64 builds for as well.
ARCH   ?= $(shell uname -m)
DIST   ?= dist
PRESET  = $(if $(filter $(ARCH),$(shell uname -m)),release,$(ARCH))
# What the builds for other judges and architectures test; MPI libraries are neither instrumented nor there.
TESTED  = --target runtime/all tests/unit/all tests/stress/all tests/programs/all
# What of the units handles bytes of others, or memory by hand. (All of them take a minute and a half to be compiled.)
ASAN_UNITS = cluster_core device_replica device_replica_check device_share device_wire device_wire_decoder large_cache \
             slab stack text
space := $(subst ,, )
# numpy and matplotlib, for tests also pytest, live here; .venv is made by tools/install_deps.sh.
PYTHON  = .venv/bin/python3
SOURCES = $(shell git ls-files '*.c' '*.h' '*.cpp' '*.hpp')

.PHONY: all deps build tsan asan aarch64 debug demo quick check bench format install wheel portable deb clean
all: build

# What the tests need, which is everything.
deps:
	tools/install_deps.sh test

# All that this machine's compilers, MPIs and libraries allow. Configured each time, since there may be more of them now.
build:
	tools/install_deps.sh build
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

# What ThreadSanitizer can judge: neither MPI libraries nor the model checker.
tsan: tree-tsan
	cmake --build --preset tsan -j $(JOBS) $(TESTED)
	ctest --preset tsan -L "unit|stress|program"

# What AddressSanitizer and UndefinedBehaviorSanitizer find in a choice of tests. No leaks: what lives as long as the
# process does is left to its end, and memory that was mapped is not searched for pointers.
asan: tree-asan
	cmake --build --preset asan -j $(JOBS) --target runtime/all tests/stress/all tests/programs/all $(ASAN_UNITS:%=%_test)
	ASAN_OPTIONS=detect_leaks=0 ctest --preset asan -R "^unit\.($(subst $(space),|,$(ASAN_UNITS)))$$|^stress\..*\.t4\.|^programs\.|^devices\."

# The runtime's other architecture, under qemu. The death tests of unit.log see qemu's own end instead of the program's,
# and qemu does not give unit.device_wire_cut a network of its own.
aarch64: deps
	tools/portable_deps.sh aarch64
	$(MAKE) --no-print-directory tree-aarch64
	cmake --build --preset aarch64 -j $(JOBS) $(TESTED)
	ctest --preset aarch64 -R '^(unit|stress|programs)\.' -E '^unit\.(log|device_wire_cut)$$'

# In a build tree of its own, with little optimisation and no debug information: it is there sooner. Its warnings are the
# release build's affair.
demo:
	tools/install_deps.sh demo
	cmake --preset demo
	cmake --build --preset demo -j $(JOBS)
	PYTHONPATH=python $(PYTHON) -m marline.demo build/demo

# Ten minutes' worth of tests in five, after `make deps build`; with ROOM=graph and the like, those of one room in one.
ROOM ?= all
quick:
	cmake --build --preset release -j $(JOBS) --target $(shell python3 tools/quick.py targets $(ROOM))
	ctest --preset release -j 3 -R "$(shell python3 tools/quick.py tests $(ROOM))"

# Without optimisation the compiler keeps every function, and without precompiled headers it sees which include a file has
# forgotten. Now and then: it takes as long as the other builds, and is no part of `check`.
debug: tree-debug
	cmake --build --preset debug -j $(JOBS) --target runtime/all offload/all mpi/all trace/all check/all tests/unit/all
	ctest --preset debug -R '^unit\.'

# What takes a second comes first. The trees are configured side by side, since each of them keeps one core busy.
check:
	python3 tools/check_layers.py
	python3 tools/check_sizes.py
	$(MAKE) --no-print-directory deps
	$(MAKE) --no-print-directory --output-sync -j 4 portable portable-aarch64 tree-tsan tree-asan
	cmake --build --preset release -j $(JOBS)
	$(MAKE) --no-print-directory aarch64
	$(MAKE) --no-print-directory tsan
	$(MAKE) --no-print-directory asan
	ctest --preset release
	python3 tools/slowest.py

tree-%: deps
	@test -f build/$*/build.ninja || cmake --preset $*

portable-aarch64:
	$(MAKE) --no-print-directory portable ARCH=aarch64

bench: deps build
	$(BUILD)/bin/marline study studies/micro.yaml --fresh -o build/studies/micro
	$(BUILD)/bin/marline study studies/forkjoin.yaml --fresh -o build/studies/forkjoin

format: deps
	clang-format-19 -i $(SOURCES)

install:
	tools/install_deps.sh build
	@test -f $(BUILD)/build.ninja || \
	  cmake --preset release -DMARLINE_TESTS=OFF -DMARLINE_BENCH=OFF -DMARLINE_APPS=OFF
	cmake --build --preset release -j $(JOBS) --target installed
	cmake --install $(BUILD) --prefix $(abspath $(PREFIX))

# The wheel, the tarball and their checksums, into DIST. Its libraries are those that `check` tests. ARCH=aarch64: the
# same for AArch64.
wheel:
	tools/install_deps.sh wheel $(ARCH)
	$(MAKE) --no-print-directory portable
	cmake --build --preset $(PRESET) -j $(JOBS) --target installed
	$(PYTHON) packaging/wheel/pack.py build/$(PRESET) $(DIST)

# Libraries for glibc 2.28, with hwloc inside.
portable:
	tools/portable_deps.sh $(ARCH)
	cmake --preset $(PRESET) -DMARLINE_PORTABLE=ON

# Debian packages, into build/deb.
deb:
	packaging/make_deb.sh $(JOBS)

clean:
	rm -rf build
