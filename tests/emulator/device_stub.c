/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for libomptarget in a device's process: x86-64 images name that library as needed but call nothing of it,
 * and loading the real one would take longer than everything else that the process does. No state.
 */
int marline_emulator_stub;
