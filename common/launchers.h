/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment variables by which launchers of MPI jobs number their ranks, before MPI_Init. Sources: Open MPI's and
 * Slurm's documentation (mpirun(1), srun(1), "OUTPUT ENVIRONMENT VARIABLES"); Hydra and Slurm's PMI-2 set PMI_RANK,
 * PMIx sets PMIX_RANK; MVAPICH's and Cray PALS's guides. For C and C++. No state.
 */
#ifndef MARLINE_COMMON_LAUNCHERS_H
#define MARLINE_COMMON_LAUNCHERS_H

enum { kLauncherRanks = 4, kLauncherLocalRanks = 5 };

typedef enum LauncherMpi { kLauncherOfAny, kLauncherOfOpenMpi, kLauncherOfMpich } LauncherMpi;

typedef struct LauncherRank {
  const char* rank;
  const char* ranks;
  LauncherMpi mpi; /* the MPI whose ranks this launcher starts, most probably */
} LauncherRank;

typedef struct LauncherLocalRank {
  const char* rank;
  const char* ranks; /* of Slurm: a list for all nodes, "4(x2),3" is 4, 4 and 3 ranks */
} LauncherLocalRank;

/* In the job. The more specific ones come first: jobs of Open MPI and MPICH under Slurm have variables of several. A
 * batch script of Slurm has SLURM_PROCID, too, but not the number of a step's tasks. */
static const LauncherRank launcher_ranks[kLauncherRanks] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", kLauncherOfOpenMpi},
    {"PMI_RANK", "PMI_SIZE", kLauncherOfMpich},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", kLauncherOfOpenMpi}, /* Slurm's seldom starts MPICH */
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", kLauncherOfAny},
};

/* On the node. */
static const LauncherLocalRank launcher_local_ranks[kLauncherLocalRanks] = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"}, /* Hydra: MPICH, Intel MPI */
    {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"},
    {"SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"},
};

#endif
