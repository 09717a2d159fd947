#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What MARLINE_PORTABLE=ON links (cmake/Portable.cmake), into .deps/portable/ARCH: an older glibc, and hwloc as an
# archive. The architecture is the argument: x86_64 or aarch64; without one, this machine's. Idempotent. Needs Debian's
# apt-get, but not root.
#
# glibc is Debian 11's: the files that a linker asks for. A library that is linked with them needs the versions of
# glibc's symbols that were there in 2.31, and packaging/wheel/pack.py refuses one that needs a newer one than 2.28.
# hwloc is built from Debian 12's source, without the parts that would need other libraries: Marline asks it for CPUs,
# caches and memory only.
set -eu
cd "$(dirname "$0")/.."
machine=${1:-$(uname -m)}
case "$machine" in
  x86_64) debian=amd64 triple=x86_64-linux-gnu compiler=gcc ;;
  aarch64) debian=arm64 triple=aarch64-linux-gnu compiler=aarch64-linux-gnu-gcc-12 ;;
  *) echo "portable_deps: $machine: neither x86_64 nor aarch64" >&2; exit 2 ;;
esac
[ "$(uname -m)" != "$machine" ] || compiler=gcc
place=$PWD/.deps/portable/$machine
wanted="glibc of bullseye, hwloc of bookworm, $(cksum < tools/portable_deps.sh)"
if [ "$(cat "$place/made" 2>/dev/null)" = "$wanted" ]; then
  exit 0
fi
command -v apt-get >/dev/null || { echo "portable_deps: needs apt-get, which this system has not" >&2; exit 1; }
echo "portable_deps: making $place"
rm -rf "$place"
mkdir -p "$place/apt/lists/partial" "$place/apt/cache/archives/partial" "$place/glibc"
cd "$place/apt"

# A private state of apt: the system's lists and packages stay as they are.
keys="signed-by=/usr/share/keyrings/debian-archive-keyring.gpg"
for source in "deb bullseye" "deb-src bookworm"; do
  echo "${source% *} [$keys] http://deb.debian.org/debian ${source#* } main"
done > sources.list
options="-qq -o APT::Architecture=$debian -o APT::Architectures=$debian -o Dir::State::lists=$PWD/lists
  -o Dir::State::status=/dev/null -o Dir::Cache=$PWD/cache -o Dir::Etc::sourcelist=$PWD/sources.list
  -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=$(id -un)"
# shellcheck disable=SC2086  # the options are words
apt-get $options update
# shellcheck disable=SC2086
apt-get $options download libc6 libc6-dev
# shellcheck disable=SC2086
apt-get $options source --download-only hwloc >/dev/null
for package in *.deb; do
  dpkg -x "$package" ../glibc
done
# Links to /lib would lead out of the folder.
find ../glibc -type l -lname '/*' | while read -r link; do
  ln -sfr "../glibc$(readlink "$link")" "$link"
done

tar xf hwloc_*.orig.tar.*
cd hwloc-*/
./configure --quiet --host="$triple" CC="$compiler" CFLAGS="-O2 -fPIC" --prefix="$place/hwloc" \
  --enable-static --disable-shared --disable-cairo --disable-libxml2 --disable-io --disable-libudev --disable-plugins \
  --disable-doxygen --disable-readme > ../configure.log 2>&1 || { tail ../configure.log >&2; exit 1; }
make -s -j"$(nproc)" -C hwloc > ../make.log 2>&1 || { tail ../make.log >&2; exit 1; }
make -s -C hwloc install >> ../make.log 2>&1
make -s -C include install >> ../make.log 2>&1
mkdir -p "$place/hwloc/share" && cp COPYING "$place/hwloc/share/COPYING.hwloc"
cd "$place"
rm -rf apt
printf '%s\n' "$wanted" > made
