#!/usr/bin/env bash
# dyparse and other parsers on one treebank, with gold words or from raw text:
#   bash scripts/peers.sh words|text UD_English-LinES|UD_Hungarian-Szeged|UD_Turkish-IMST UD [OPTION ...]
# UD: directory of UD treebanks. OPTION: of benchmarks/peers/run.py. For English a directory `all-MiniLM-L6-v2` of the
# pretrained model has to be in the working directory. Run it again to continue: what is in outputs/peers is not
# measured again. The results are copied to docs/study/peers once all lines are measured.
set -euo pipefail
if [ $# -lt 3 ]; then sed -n '2,6s/^# //p' "$0" >&2; exit 2; fi
task=$1 name=$2 root=$3 options=("${@:4}")
for option in "$@"; do
  case $option in --task* | --root* | --name* | --dyparse* | --rows* | --minutes* | --budget* | --output*) echo "$option is set by this script" >&2; exit 2 ;; esac
done
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
output=$here/outputs/peers/$task-$name.json

gold=(udpipe-dynamic spacy-upos stanza-graph supar uuparser maltparser-{nivreeager,covnonproj,2planar})
none=({udpipe-dynamic,stanza-graph,supar,uuparser,maltparser-{nivreeager,covnonproj,2planar}}-no-tags spacy)
own=(default fast) rows=(dyparse-gold_tags dyparse-fast_gold_tags "${gold[@]}" dyparse-default dyparse-fast "${none[@]}")
text=(dyparse-text-default dyparse-text-fast udpipe-text)
minutes=5 budgets=(udpipe-dynamic{,-no-tags}=20)  # UDPipe: what all of its iterations take
case $name in
  UD_English-LinES)
    own+=('finetuned encoder.pretrained=all-MiniLM-L6-v2') rows+=(dyparse-finetuned) text+=(dyparse-text-finetuned)
    minutes=10 budgets+=({stanza-graph,supar}=60 {stanza-graph,supar}-no-tags=20 dyparse-finetuned=30)
    ;;
  UD_Hungarian-Szeged | UD_Turkish-IMST) ;;
  *) echo "no treebank $name; expected UD_English-LinES, UD_Hungarian-Szeged or UD_Turkish-IMST" >&2; exit 2 ;;
esac
case $task in
  words) what=(--dyparse gold_tags fast_gold_tags "${own[@]}" --rows "${rows[@]}" --minutes "$minutes" --budget "${budgets[@]}") ;;
  text) what=(--dyparse "${own[@]}" --rows "${text[@]}" --minutes 60) ;;
  *) echo "no task $task; expected words or text" >&2; exit 2 ;;
esac

python "$here/benchmarks/peers/run.py" --task "$task" --root "$root" --name "$name" "${what[@]}" --output "$output" \
  "${options[@]}"
mkdir -p "$here/docs/study/peers"
cp "$output" "$here/docs/study/peers/"
