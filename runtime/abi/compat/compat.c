/* SPDX-License-Identifier: Apache-2.0
 *
 * libomp.so.5, libiomp5.so and libgomp.so.1 in lib/marline/compat: libraries that contain only the version nodes of
 * nodes.map and a dependency on libmarline.so. A process that loads several of them still has one runtime,
 * libmarline.so. */
typedef int marline_compat_is_empty;
