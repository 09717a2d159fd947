/* SPDX-License-Identifier: Apache-2.0
 *
 * libomp.so.5, libiomp5.so, libgomp.so.1 and the names of libomptarget in lib/marline/compat: libraries that contain
 * only version nodes (nodes.map, omptarget_nodes.map) and a dependency on libmarline.so or libmarline-target.so. A
 * process that loads several of them still has one runtime. They are no links: a Python wheel has none. */
typedef int marline_compat_is_empty;
