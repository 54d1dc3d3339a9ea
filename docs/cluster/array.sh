#!/bin/bash
#SBATCH --cpus-per-task=16
#SBATCH --mem=64G
#SBATCH --time=02:00:00
# One shard of a run for each task of the array: sbatch --array=1-8 array.sh SUITE OUTPUTS…
set -euo pipefail
workspace="shards/${SLURM_ARRAY_TASK_ID}"
python -m metrics evaluate "$@" --shard "${SLURM_ARRAY_TASK_ID}/${SLURM_ARRAY_TASK_COUNT}" --workspace "$workspace" --quiet
