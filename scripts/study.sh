#!/usr/bin/env bash
# The grids of docs/protocol.md:   bash scripts/study.sh A1|A2|A3|B|C|D|E UD [OPTION ...]
# UD: directory of UD treebanks. OPTION: of dyparse compare; grid E needs encoder.pretrained=DIR.
# Run it again to continue: cells with a result.json in docs/study are not trained again.
set -euo pipefail
grid=$1 root=$2 options=("${@:3}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

on() { for name in "$@"; do treebanks+=(--treebank "$root/UD_$name"); done; }
six=(Afrikaans-AfriBooms English-LinES Gothic-PROIEL Greek-GDT Hungarian-Szeged Turkish-IMST)
five=(--system arc_eager --system nonmonotonic --system buffer --system attardi --system covington)
parts=(
  --system nonmonotonic:reduce=false
  --system nonmonotonic:left_arc=false
  --system buffer:right_buffer=false,left_nonprojective=false,right_nonprojective=false
  --system buffer:left_buffer=false,left_nonprojective=false,right_nonprojective=false
  --system buffer:left_buffer=false,right_buffer=false,right_nonprojective=false
  --system buffer:left_buffer=false,right_buffer=false,left_nonprojective=false
)
static_and_replay=(--exploration static --exploration dagger_replay)
all_three=("${static_and_replay[@]}" --exploration explore)
compare() { dyparse compare -o "$here/docs/study/${grid:0:1}" "${treebanks[@]}" "$@" "${options[@]}"; }

treebanks=()
case $grid in
  A1) on "${six[@]}"; compare "${five[@]}" "${all_three[@]}" --seeds 1-5 ;;
  A2) on "${six[@]}"; compare "${five[@]}" --exploration ambiguity --seeds 1-3 ;;
  A3) on "${six[@]}"; compare "${parts[@]}" "${static_and_replay[@]}" --seeds 1-3 ;;
  B) on "${six[@]}"; compare --experiment gold_tags --system arc_eager --system attardi "${all_three[@]}" --seeds 1-3 ;;
  C) on English-EWT; compare --experiment gold_tags --system arc_eager "${static_and_replay[@]}" --seeds 1-3 ;;
  D)
    on English-LinES Hungarian-Szeged Turkish-IMST
    compare --experiment none --system arc_eager "${all_three[@]}" --seeds 1-3 tokenizer=plain
    ;;
  E)
    on English-LinES
    compare --experiment finetuned --system arc_eager "${static_and_replay[@]}" --seeds 1-3
    ;;
  *) echo "no grid $grid; expected A1, A2, A3, B, C, D or E" >&2; exit 2 ;;
esac
