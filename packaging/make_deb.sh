#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make_deb.sh [JOBS]: the Debian packages, into build/deb. Builds a copy of the tracked files, in which packaging/debian
# lies where Debian wants it.
set -eu
cd "$(dirname "$0")/.."

if ! command -v dpkg-buildpackage >/dev/null || ! command -v dh >/dev/null; then
  echo "make_deb: dpkg-buildpackage or dh is missing; Debian, Ubuntu, as root: apt-get install dpkg-dev debhelper" >&2
  exit 1
fi
version=$(dpkg-parsechangelog --file packaging/debian/changelog --show-field Version)
tree=build/deb/marline-${version%-*}
rm -rf build/deb
mkdir -p "$tree"
git ls-files -z | tar --create --null --files-from - | tar --extract --directory "$tree"
cp -R "$tree/packaging/debian" "$tree/debian"
cd "$tree"
dpkg-buildpackage --build=binary --unsigned-source --unsigned-changes --jobs="${1:-$(nproc)}"
cd ../../..
rm -rf "$tree"
echo
ls build/deb/*.deb
