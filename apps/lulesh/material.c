/* SPDX-License-Identifier: Apache-2.0
 *
 * The equation of state of an ideal gas, evaluated in three passes (half a step, the whole step, with the viscosity of
 * that), element by element. A region's elements are packed side by side, so all but the first and the last loops read
 * and write by place in the regions' list.
 */
#include <math.h>

#include "constants.h"
#include "loops.h"

/* Reads new_volume. Writes clamped_volume. */
void copy_volume(Fields* fields, int32_t begin, int32_t end) {
  const double* restrict from = fields->new_volume;
  double* restrict to = fields->clamped_volume;
  for (int32_t element = begin; element < end; ++element) {
    to[element] = from[element];
  }
}

/* Change clamped_volume. */
void clamp_low_volume(Fields* fields, int32_t begin, int32_t end) {
  double* restrict volume = fields->clamped_volume;
  for (int32_t element = begin; element < end; ++element) {
    volume[element] = volume[element] < LEAST_VOLUME ? LEAST_VOLUME : volume[element];
  }
}

void clamp_high_volume(Fields* fields, int32_t begin, int32_t end) {
  double* restrict volume = fields->clamped_volume;
  for (int32_t element = begin; element < end; ++element) {
    volume[element] = volume[element] > MOST_VOLUME ? MOST_VOLUME : volume[element];
  }
}

/* Reads volume. */
void check_volume(Fields* fields, int32_t begin, int32_t end) {
  int bad = 0;
  for (int32_t element = begin; element < end; ++element) {
    double volume = fmin(fmax(fields->volume[element], LEAST_VOLUME), MOST_VOLUME);
    bad |= !(volume > 0);
  }
  if (bad) {
    fields_fail(fields, kBadVolume);
  }
}

/* Reads new_volume. Writes volume. */
void update_volume(Fields* fields, int32_t begin, int32_t end) {
  const double* restrict from = fields->new_volume;
  double* restrict to = fields->volume;
  for (int32_t element = begin; element < end; ++element) {
    to[element] = fabs(from[element] - 1.0) < VOLUME_CUT ? 1.0 : from[element];
  }
}

/* Reads energy, pressure, viscosity, linear, quadratic, volume_change. Writes the arrays of the material. */
void pack_material(Fields* fields, int32_t begin, int32_t end) {
  const int32_t* restrict list = fields->regions->element;
  Material* m = &fields->material;
  for (int32_t at = begin; at < end; ++at) {
    int32_t element = list[at];
    m->energy[at] = fields->energy[element];
    m->pressure[at] = fields->pressure[element];
    m->viscosity[at] = fields->viscosity[element];
    m->linear[at] = fields->linear[element];
    m->quadratic[at] = fields->quadratic[element];
    m->change[at] = fields->volume_change[element];
  }
}

/* Reads clamped_volume. Writes compression, half_compression. */
void compress(Fields* fields, int32_t begin, int32_t end) {
  const int32_t* restrict list = fields->regions->element;
  Material* m = &fields->material;
  for (int32_t at = begin; at < end; ++at) {
    double volume = fields->clamped_volume[list[at]];
    m->compression[at] = 1.0 / volume - 1.0;
    m->half_compression[at] = 1.0 / (volume - m->change[at] * 0.5) - 1.0;
  }
}

/* Where the volume is at its lower or upper limit. */
void compress_at_least(Fields* fields, int32_t begin, int32_t end) {
  const int32_t* restrict list = fields->regions->element;
  Material* m = &fields->material;
  for (int32_t at = begin; at < end; ++at) {
    if (fields->clamped_volume[list[at]] <= LEAST_VOLUME) {
      m->half_compression[at] = m->compression[at];
    }
  }
}

void compress_at_most(Fields* fields, int32_t begin, int32_t end) {
  const int32_t* restrict list = fields->regions->element;
  Material* m = &fields->material;
  for (int32_t at = begin; at < end; ++at) {
    if (fields->clamped_volume[list[at]] >= MOST_VOLUME) {
      m->pressure[at] = m->compression[at] = m->half_compression[at] = 0;
    }
  }
}

/* There is no other source of energy. */
void clear_work(Fields* fields, int32_t begin, int32_t end) {
  double* restrict work = fields->material.work;
  for (int32_t at = begin; at < end; ++at) {
    work[at] = 0;
  }
}

static double at_least(double value, double least) { return value < least ? least : value; }

static double cut(double value, double near_zero) { return fabs(value) < near_zero ? 0.0 : value; }

/* Half a step. Writes new_energy. */
void energy_half(Fields* fields, int32_t begin, int32_t end) {
  Material* m = &fields->material;
  for (int32_t at = begin; at < end; ++at) {
    double energy = m->energy[at] - 0.5 * m->change[at] * (m->pressure[at] + m->viscosity[at]) + 0.5 * m->work[at];
    m->new_energy[at] = at_least(energy, LEAST_ENERGY);
  }
}

static void bulk(const double* restrict compression, Material* m, int32_t begin, int32_t end) {
  double* restrict factor = m->bulk, * restrict slope = m->slope;
  for (int32_t at = begin; at < end; ++at) {
    factor[at] = 2.0 / 3.0 * (compression[at] + 1.0);
    slope[at] = 2.0 / 3.0;
  }
}

static void pressure(const Fields* fields, double* restrict result, int32_t begin, int32_t end) {
  const Material* m = &fields->material;
  const int32_t* restrict list = fields->regions->element;
  for (int32_t at = begin; at < end; ++at) {
    double value = cut(m->bulk[at] * m->new_energy[at], PRESSURE_CUT);
    value = fields->clamped_volume[list[at]] >= MOST_VOLUME ? 0.0 : value;
    result[at] = at_least(value, LEAST_PRESSURE);
  }
}

void bulk_half(Fields* fields, int32_t begin, int32_t end) {
  bulk(fields->material.half_compression, &fields->material, begin, end);
}

void pressure_half(Fields* fields, int32_t begin, int32_t end) {
  pressure(fields, fields->material.half_pressure, begin, end);
}

/* Also called after the last pass, with the energy from that pass. */
void bulk_full(Fields* fields, int32_t begin, int32_t end) {
  bulk(fields->material.compression, &fields->material, begin, end);
}

void pressure_full(Fields* fields, int32_t begin, int32_t end) {
  pressure(fields, fields->material.new_pressure, begin, end);
}

static double speed_of_sound(const Material* m, int32_t at, double energy, double pressure, double volume) {
  double square = (m->slope[at] * energy + volume * volume * m->bulk[at] * pressure) / REFERENCE_DENSITY;
  return square <= 1.111111e-37 ? 3.333333e-19 : sqrt(square);
}

/* The viscosity of an element that does not grow. */
static double viscosity_of(const Material* m, int32_t at, double pressure, double volume) {
  return speed_of_sound(m, at, m->new_energy[at], pressure, volume) * m->linear[at] + m->quadratic[at];
}

/* Writes new_viscosity. Changes new_energy. */
void viscosity_half(Fields* fields, int32_t begin, int32_t end) {
  Material* m = &fields->material;
  for (int32_t at = begin; at < end; ++at) {
    double volume = 1.0 / (1.0 + m->half_compression[at]);
    double viscosity = viscosity_of(m, at, m->half_pressure[at], volume);
    m->new_viscosity[at] = m->change[at] > 0 ? 0.0 : viscosity;
    m->new_energy[at] +=
        0.5 * m->change[at] *
        (3.0 * (m->pressure[at] + m->viscosity[at]) - 4.0 * (m->half_pressure[at] + m->new_viscosity[at]));
  }
}

void energy_work(Fields* fields, int32_t begin, int32_t end) {
  Material* m = &fields->material;
  for (int32_t at = begin; at < end; ++at) {
    double energy = cut(m->new_energy[at] + 0.5 * m->work[at], ENERGY_CUT);
    m->new_energy[at] = at_least(energy, LEAST_ENERGY);
  }
}

/* The whole step. Changes new_energy. */
void energy_full(Fields* fields, int32_t begin, int32_t end) {
  const int32_t* restrict list = fields->regions->element;
  Material* m = &fields->material;
  for (int32_t at = begin; at < end; ++at) {
    double viscosity = viscosity_of(m, at, m->new_pressure[at], fields->clamped_volume[list[at]]);
    viscosity = m->change[at] > 0 ? 0.0 : viscosity;
    double sum = 7.0 * (m->pressure[at] + m->viscosity[at]) - 8.0 * (m->half_pressure[at] + m->new_viscosity[at]) +
                 (m->new_pressure[at] + viscosity);
    double energy = cut(m->new_energy[at] - sum * m->change[at] / 6.0, ENERGY_CUT);
    m->new_energy[at] = at_least(energy, LEAST_ENERGY);
  }
}

/* Changes new_viscosity. */
void viscosity_full(Fields* fields, int32_t begin, int32_t end) {
  const int32_t* restrict list = fields->regions->element;
  Material* m = &fields->material;
  for (int32_t at = begin; at < end; ++at) {
    double viscosity = cut(viscosity_of(m, at, m->new_pressure[at], fields->clamped_volume[list[at]]), VISCOSITY_CUT);
    m->new_viscosity[at] = m->change[at] > 0 ? m->new_viscosity[at] : viscosity;
  }
}

/* Writes energy, pressure, viscosity. */
void store_material(Fields* fields, int32_t begin, int32_t end) {
  const int32_t* restrict list = fields->regions->element;
  const Material* m = &fields->material;
  for (int32_t at = begin; at < end; ++at) {
    int32_t element = list[at];
    fields->pressure[element] = m->new_pressure[at];
    fields->energy[element] = m->new_energy[at];
    fields->viscosity[element] = m->new_viscosity[at];
  }
}

/* Writes sound. */
void sound_speed(Fields* fields, int32_t begin, int32_t end) {
  const int32_t* restrict list = fields->regions->element;
  const Material* m = &fields->material;
  for (int32_t at = begin; at < end; ++at) {
    int32_t element = list[at];
    fields->sound[element] =
        speed_of_sound(m, at, m->new_energy[at], m->new_pressure[at], fields->clamped_volume[element]);
  }
}
