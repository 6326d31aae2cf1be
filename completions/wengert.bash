# SPDX-License-Identifier: Apache-2.0 OR MIT
# bash completion of wengert; written by tests/house/run_generated.py from the command's tables.
_wengert()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "train run eval grad describe plan explain print check compare version --help --version" -- "$word"))
        return
    fi
    case "$before" in
    --optimizer) COMPREPLY=($(compgen -W "sgd adam adamw" -- "$word")); return ;;
    --schedule) COMPREPLY=($(compgen -W "constant linear cosine step" -- "$word")); return ;;
    --weights|--out|--log|--report) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --entry|--seed|--threads|--rate|--momentum|--decay|--clip|--warmup|--epochs|--batch|--evaluate|--grad|--of|--wrt|--observe|--memory|--by) return ;;
    esac
    case "${COMP_WORDS[1]}" in
    train) options="--data --test --entry --evaluate --optimizer --rate --momentum --decay --clip --schedule --warmup --epochs --batch --seed --out --resume --log --report --weights --memory --threads --json --help" ;;
    run) options="--entry --feed --weights --extent --out --json --threads --help" ;;
    eval) options="--feed --grad --json --threads --help" ;;
    grad) options="--of --wrt --out --help" ;;
    describe) options="--entry --observe --retain --extent --help" ;;
    plan) options="--entry --observe --retain --extent --memory --json --help" ;;
    explain) options="--entry --feed --weights --extent --memory --measure --by --threads --json --help" ;;
    print) options="--out --help" ;;
    check) options="--entry --feed --weights --extent --seed --threads --json --help" ;;
    compare) options="--entry --feed --extent --json --help" ;;
    version) options="--json --help" ;;
    esac
    case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "${word##*=}")) ;;
    esac
}
complete -o filenames -F _wengert wengert
