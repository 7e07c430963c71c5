#!/usr/bin/env bash
# The grids of docs/protocol.md, A1 to E, of docs/results.md#learning-from-costs-labels-on-moves-crossing-arcs, F to I, and of
# docs/pretrained.md, J and K:
#   bash scripts/study.sh A1|A2|A3|B|C|D|E|F|G|H|I|J|K UD [OPTION ...]
# UD: directory of UD treebanks. OPTION: of dyparse compare; grids E, J and K need encoder.pretrained=DIR.
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
four=(English-LinES Gothic-PROIEL Hungarian-Szeged Turkish-IMST)
replay=(--exploration dagger_replay --baseline dagger_replay --seeds 1-3)
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
  F)
    on "${four[@]}"
    for loss in set_nll hinge binary softmax_margin cost_regression expected_cost; do
      compare --system arc_eager "${replay[@]}" --loss "$loss"
    done
    for states in dagger sample curriculum lols scheduled_sampling; do
      compare --system arc_eager --exploration "$states" --baseline "$states" --seeds 1-3
    done
    drawn=scheduled_sampling:k=0.5,temperature=1.0
    for states in lols "$drawn"; do
      compare --system arc_eager --exploration "$states" --baseline "$states" --loss expected_cost --seeds 1-3
    done
    for name in "${four[@]}"; do
      for seed in 1 2 3; do  # the first training is that of the baseline; its model is not among the results
        same=("treebank=$root/UD_$name" "seed=$seed" threads=1 "${options[@]}")
        start=$here/outputs/study/UD_$name-seed$seed
        dyparse train "${same[@]}" experiment=static_vs_dynamic system=arc_eager exploration=dagger_replay "output=$start"
        dyparse train "${same[@]}" 'experiment=[static_vs_dynamic,policy_gradient]' "start=$start" \
          "output=$here/docs/study/F/policy_gradient-UD_$name-seed$seed"
      done
    done
    ;;
  G)
    on "${four[@]}"
    compare --system arc_eager "${replay[@]}"
    compare --system arc_eager "${replay[@]}" 'heads=[joint_labels]'
    ;;
  H)
    on "${four[@]}"
    compare --system arc_eager --system attardi --system buffer --system covington --system covington_nonmonotonic \
      --system two_planar --system arc_hybrid --system arc_standard --system swap "${replay[@]}"
    for encoding in head path head+path; do
      compare --system arc_eager "${replay[@]}" projectivity=$encoding
    done
    ;;
  I)
    on "${four[@]}"
    compare --system covington --exploration static --exploration explore --exploration dagger_replay --seeds 1-3
    for name in "${four[@]}"; do
      for states in explore dagger_replay; do
        for seed in 1 2 3; do
          PYTHONPATH=$here/scripts dyparse train experiment=static_vs_dynamic "treebank=$root/UD_$name" "seed=$seed" \
            "exploration=$states" system=covington system._target_=covington_shift_only.CovingtonShiftOnly threads=1 \
            "output=$here/docs/study/I/shift_only-$states-UD_$name-seed$seed" "${options[@]}"
        done
      done
    done
    ;;
  J) on English-LinES; compare --experiment frozen --system arc_eager "${replay[@]}" tokenizer=plain ;;
  K)
    on English-LinES
    compare --experiment frozen --system arc_eager "${replay[@]}" tokenizer=plain 'encoder.features=[subword,upos]' 'heads=[labels]'
    ;;
  *) echo "no grid $grid; expected A1, A2, A3, B, C, D, E, F, G, H, I, J or K" >&2; exit 2 ;;
esac
