/* SPDX-License-Identifier: Apache-2.0
 *
 * The reactor's materials; see materials.h. The numbers are XSBench's, version 20 (Tramm, Siegel, Islam and Schulz,
 * PHYSOR 2014). Materials share parts, such as the water that flows round most of them. No state.
 */
#include "materials.h"

#include <string.h>

#include "random.h"

enum { kMostParts = 4, kDensitySeed = 1070 * 1070 };

typedef struct {
  int count;
  int nuclide[34];
} Part;

static const Part kFuel = {34, {58, 59, 60, 61, 40, 42, 43, 44, 45, 46, 1,  2,  3,  7,  8,  9,  10,
                                29, 57, 47, 48, 0,  62, 15, 33, 34, 52, 53, 54, 55, 56, 18, 23, 41}};
static const Part kCladding = {5, {63, 64, 65, 66, 67}};
static const Part kWater = {4, {24, 41, 4, 5}};
static const Part kSteel = {10, {19, 20, 21, 22, 35, 36, 37, 38, 39, 25}};
static const Part kVessel = {7, {27, 28, 29, 30, 31, 32, 26}};
static const Part kAlloy = {7, {49, 50, 51, 11, 12, 13, 14}};
static const Part kTraces = {3, {6, 16, 17}};

typedef struct {
  int volume; /* per mille of the core; 0: the rest */
  const Part* parts[kMostParts];
} Recipe;

static const Recipe kRecipes[kMaterials] = {
    {0, {&kFuel}},
    {52, {&kCladding}},
    {275, {&kWater}},                              /* cold */
    {134, {&kWater}},                              /* hot */
    {154, {&kSteel, &kVessel, &kAlloy, &kTraces}}, /* pressure vessel */
    {64, {&kWater, &kSteel, &kAlloy}},             /* reflector at the sides and below */
    {66, {&kWater, &kSteel, &kAlloy}},             /* reflector above, top plate */
    {55, {&kWater, &kSteel, &kAlloy}},             /* bottom plate */
    {8, {&kWater, &kSteel, &kAlloy}},              /* bottom nozzle */
    {15, {&kWater, &kSteel, &kAlloy}},             /* top nozzle */
    {25, {&kWater, &kCladding}},                   /* top of the fuel assemblies */
    {13, {&kWater, &kCladding}},                   /* their bottom */
};

static int append(int* nuclides, int count, const Part* part) {
  memcpy(nuclides + count, part->nuclide, (size_t)part->count * sizeof *nuclides);
  return count + part->count;
}

static int compose(int* list, const Recipe* recipe, int nuclides) {
  int count = 0;
  for (int part = 0; part < kMostParts && recipe->parts[part]; ++part) {
    count = append(list, count, recipe->parts[part]);
  }
  if (recipe->parts[0] == &kFuel) {
    for (int nuclide = kSmallNuclides; nuclide < nuclides; ++nuclide) {
      list[count++] = nuclide;
    }
  }
  return count;
}

void materials_fill(Materials* materials, int nuclides) {
  int volume = 0;
  uint64_t state = kDensitySeed;
  memset(materials, 0, sizeof *materials);
  for (int m = 0; m < kMaterials; ++m) {
    volume += kRecipes[m].volume;
    materials->up_to[m] = volume / 1000.0;
    materials->count[m] = compose(materials->nuclide[m], &kRecipes[m], nuclides);
    for (int k = 0; k < materials->count[m]; ++k) {
      materials->density[m][k] = random_next(&state);
    }
  }
}
