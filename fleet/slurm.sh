#!/bin/bash
# Exports the traces of a list by a Slurm array: each task takes CHUNK of them, each trace is one call that can be repeated.
#
#   find /data/traces -name '*.json.gz' | sort > traces.txt
#   sbatch --array=0-$(( ($(wc -l < traces.txt) - 1) / 8 )) fleet/slurm.sh traces.txt /data/tables job-4711
#
# The last task of a job of many ranks says what that job is, from summaries of a few kB a step (TABLES=summary):
#
#   id=$(TABLES=summary sbatch --parsable --array=… fleet/slurm.sh traces.txt /data/parts job-4711)
#   sbatch --dependency=afterok:$id --wrap "overlay report -i /data/parts > report.txt && overlay advise -i /data/parts > advise.txt"
#
#SBATCH --job-name=overlay
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --time=00:30:00
set -eu
list=$1 out=$2 run=$3
chunk=${CHUNK:-8}
first=$((SLURM_ARRAY_TASK_ID * chunk + 1))
failed=0
while IFS= read -r trace; do
	overlay export -i "$trace" -o "$out" --run "$run" --tables "${TABLES:-trace}" --quiet </dev/null || failed=1 # the others go on
done < <(sed -n "${first},$((first + chunk - 1))p" "$list")
exit $failed
