# SPDX-License-Identifier: Apache-2.0 OR MIT
# bash completion of wengert; written by tests/house/run_generated.py from the command's tables.
_wengert()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} options=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "train run eval grad describe plan explain print check compare bpl version model --help --version" -- "$word"))
        return
    fi
    if [ "$COMP_CWORD" -eq 2 ] && [ "${COMP_WORDS[1]}" = model ]; then COMPREPLY=($(compgen -W "author identity inspect quantize convert compile logits tokenize detokenize generate chat bench verify train" -- "$word")); return; fi
    [ "${COMP_WORDS[1]}" != model ] || verb="model ${COMP_WORDS[2]}"
    case "$before" in
    --optimizer) COMPREPLY=($(compgen -W "sgd adam adamw" -- "$word")); return ;;
    --schedule) COMPREPLY=($(compgen -W "constant linear cosine step" -- "$word")); return ;;
    --weights|--out|--log|--report|--tokenizer|--session|--receipt|--adapter|--text|--valid) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --entry|--seed|--threads|--rate|--momentum|--decay|--clip|--warmup|--epochs|--batch|--evaluate|--grad|--of|--wrt|--observe|--memory|--by|--cut|--ctx|--rows|--length|--dir|--tokens|--max-tokens|--stop|--system|--draft|--cache|--prompt|--generate|--repeat|--format|--compare|--kind|--embedding|--shape|--steps|--every|--sample|--lora|--expression|--temperature|--top-k|--top-p|--min-p|--repeat-penalty|--frequency-penalty|--presence-penalty|--repeat-last) return ;;
    esac
    case "$verb" in
    'train') options="--data --test --entry --evaluate --optimizer --rate --momentum --decay --clip --schedule --warmup --epochs --batch --seed --out --resume --log --report --weights --memory --threads --json --help" ;;
    'run') options="--entry --feed --weights --extent --out --json --threads --help" ;;
    'eval') options="--feed --grad --json --threads --help" ;;
    'grad') options="--of --wrt --out --help" ;;
    'describe') options="--entry --observe --retain --extent --help" ;;
    'plan') options="--entry --observe --retain --extent --memory --json --help" ;;
    'explain') options="--entry --feed --weights --extent --memory --measure --by --threads --json --help" ;;
    'print') options="--out --help" ;;
    'check') options="--entry --feed --weights --extent --seed --threads --json --help" ;;
    'compare') options="--entry --feed --extent --json --help" ;;
    'bpl') options="--expression --format --worker --threads --help" ;;
    'version') options="--json --help" ;;
    'model author') options="--adapter --cut --ctx --rows --length --cache --q8-activation --dir --out --help" ;;
    'model identity') options="--adapter --cut --ctx --rows --length --cache --q8-activation --json --help" ;;
    'model inspect') options="--adapter --manifest --json --help" ;;
    'model quantize') options="--kind --embedding --help" ;;
    'model convert') options="--kind --help" ;;
    'model compile') options="--adapter --help" ;;
    'model logits') options="--adapter --tokens --ctx --rows --cache --q8-activation --threads --json --help" ;;
    'model tokenize') options="--stdin --special --json --help" ;;
    'model detokenize') options="--tokens --stdin --special --json --help" ;;
    'model generate') options="--adapter --chat --interactive --system --tokenizer --max-tokens --stop --ctx --rows --cache --q8-activation --draft --session --receipt --stats --threads --json --seed --temperature --top-k --top-p --min-p --repeat-penalty --frequency-penalty --presence-penalty --repeat-last --temperature-first --help" ;;
    'model chat') options="--adapter --system --tokenizer --max-tokens --stop --ctx --rows --cache --q8-activation --draft --stats --threads --seed --temperature --top-k --top-p --min-p --repeat-penalty --frequency-penalty --presence-penalty --repeat-last --temperature-first --help" ;;
    'model bench') options="--adapter --prompt --generate --batch --repeat --format --compare --ctx --rows --cache --q8-activation --threads --help" ;;
    'model verify') options="--adapter --threads --json --help" ;;
    'model train') options="--text --valid --shape --tokenizer --rows --length --steps --rate --schedule --warmup --decay --clip --every --sample --resume --lora --log --seed --threads --json --help" ;;
    esac
    case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "${word##*=}")) ;;
    esac
}
complete -o filenames -F _wengert wengert
