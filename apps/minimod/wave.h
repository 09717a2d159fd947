/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known about the waves: the source's wavelet, the medium, the standing wave, and what a grid does to them.
 * Lengths are in grid spacings, and the fastest speed is 1. So a time step is as long as --courant says. Pure
 * functions.
 */
#ifndef MINIMOD_WAVE_H
#define MINIMOD_WAVE_H

#include "options.h"

/* Ricker's wavelet: the second derivative of a Gaussian. Its strongest frequency belongs to --wavelength. Its peak is
 * at 1.5 * wavelength; it begins and ends, at 0 and 3 * wavelength, near zero. */
double wave_source(const Options* options, double time);

/* The speed at a point of this z. */
double wave_speed(const Options* options, int z);

/* sigma * time step (kernel.h) of point `place` of `points` in one direction. */
double wave_damping(const Options* options, int points, int place);

/* The standing wave at time step 0, and by what angle its cosine proceeds per step, as the differences have it. */
double wave_mode(const Options* options, int x, int y, int z);
double wave_mode_angle(const Options* options);

/* How far, as a part of its norm, the wavelet may be from the exact one after this time: see README.md. */
double wave_misfit(const Options* options, double time);

#endif
