#!/usr/bin/env bash
# The experiment of docs/results.md:   bash scripts/static_vs_dynamic.sh [DIRECTORY OF UD TREEBANKS]
# Cells that have a result.json in docs/results already are not trained again.
set -euo pipefail
root=${1:-ud}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

treebanks=()
for name in English-LinES Gothic-PROIEL Hungarian-Szeged Turkish-IMST Greek-GDT Afrikaans-AfriBooms; do
  treebanks+=(--treebank "$root/UD_$name")
done
systems=(--system arc_eager --system nonmonotonic --system buffer --system attardi --system covington)
single_repairs=(--system nonmonotonic:reduce=false --system nonmonotonic:left_arc=false)
single_buffer_moves=(
  --system buffer:right_buffer=false,left_nonprojective=false,right_nonprojective=false
  --system buffer:left_buffer=false,left_nonprojective=false,right_nonprojective=false
  --system buffer:left_buffer=false,right_buffer=false,right_nonprojective=false
  --system buffer:left_buffer=false,right_buffer=false,left_nonprojective=false
)
static_and_explore=(--exploration static --exploration explore)
compare() { dyparse compare -o "$here/docs/results" "$@"; }

compare "${treebanks[@]}" "${systems[@]}" "${static_and_explore[@]}" --seeds 1-3
compare "${treebanks[@]}" "${systems[@]}" --exploration ambiguity --exploration dagger --seeds 1-3
compare "${treebanks[@]}" --system arc_eager "${static_and_explore[@]}" --exploration ambiguity --exploration dagger --seeds 4-5
compare "${treebanks[@]}" "${single_repairs[@]}" "${static_and_explore[@]}" --seeds 1-3
compare "${treebanks[@]}" "${single_buffer_moves[@]}" "${static_and_explore[@]}" --seeds 1-3
compare "${treebanks[@]}" --system arc_eager --exploration sample --exploration curriculum --seeds 1-3
compare "${treebanks[@]}" --system arc_eager --exploration explore --loss hinge --loss binary --loss expected_cost --loss softmax_margin --seeds 1-3
compare --treebank "$root/UD_English-EWT" --system arc_eager --system nonmonotonic --system attardi "${static_and_explore[@]}" --exploration dagger --seeds 1-3
