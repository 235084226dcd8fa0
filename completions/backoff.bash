_backoff() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="backoff"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        backoff)
            opts="-n -d -t -i -s -k -b -f -m -e -r -q -v -h -V -g -j -p --attempts --deadline --timeout --idle-timeout --signal --kill-after --every --base --factor --max-delay --delays --spread --slot-ceiling --stop-at-delay --initial-delay --splay --reset-after --seed --success-exit --success-match --fail-match --consecutive --retry-exit --stop-exit --retry-match --stop-match --retry-signal --stop-signal --stop-on-timeout --retry-if --success-if --for --retry-after --max-retry-after --stdin-limit --pty --budget --budget-ratio --budget-min --budget-window --skipped-exit --store --store-timeout --quiet --verbose --log-file --label --report --on-retry --before-retry --on-give-up --exhausted-exit --flaky-exit --c-locale --plan --plot --list-presets --list-policies --config --no-config --help --version --growth --jitter --policy --until --match-on --stdin --stdout --stderr --idempotent --nested --log-format --color --progress --generate --cool-off --hook-output"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --attempts)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --deadline)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -d)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -t)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --idle-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -i)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --signal)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kill-after)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --every)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --base)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -b)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --factor)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-delay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -m)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --delays)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --spread)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --slot-ceiling)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stop-at-delay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --initial-delay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --splay)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --reset-after)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --success-exit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --success-match)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fail-match)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --consecutive)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retry-exit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -e)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stop-exit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retry-match)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -r)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stop-match)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retry-signal)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stop-signal)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --retry-if)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --success-if)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-retry-after)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stdin-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --budget)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --budget-ratio)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --budget-min)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --budget-window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --skipped-exit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --store)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --store-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --log-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --on-retry)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --before-retry)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --on-give-up)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exhausted-exit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --flaky-exit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --growth)
                    COMPREPLY=($(compgen -W "exponential linear fibonacci constant" -- "${cur}"))
                    return 0
                    ;;
                -g)
                    COMPREPLY=($(compgen -W "exponential linear fibonacci constant" -- "${cur}"))
                    return 0
                    ;;
                --jitter)
                    COMPREPLY=($(compgen -W "none full equal decorrelated additive proportional slotted" -- "${cur}"))
                    return 0
                    ;;
                -j)
                    COMPREPLY=($(compgen -W "none full equal decorrelated additive proportional slotted" -- "${cur}"))
                    return 0
                    ;;
                --policy)
                    COMPREPLY=($(compgen -W "sip google ethernet aws clojure cron" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "sip google ethernet aws clojure cron" -- "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -W "success failure never" -- "${cur}"))
                    return 0
                    ;;
                --match-on)
                    COMPREPLY=($(compgen -W "stdout stderr both" -- "${cur}"))
                    return 0
                    ;;
                --stdin)
                    COMPREPLY=($(compgen -W "auto inherit replay null" -- "${cur}"))
                    return 0
                    ;;
                --stdout)
                    COMPREPLY=($(compgen -W "stream final success failure null" -- "${cur}"))
                    return 0
                    ;;
                --stderr)
                    COMPREPLY=($(compgen -W "stream final failure null" -- "${cur}"))
                    return 0
                    ;;
                --idempotent)
                    COMPREPLY=($(compgen -W "yes no" -- "${cur}"))
                    return 0
                    ;;
                --nested)
                    COMPREPLY=($(compgen -W "allow once warn" -- "${cur}"))
                    return 0
                    ;;
                --log-format)
                    COMPREPLY=($(compgen -W "text json github github-groups" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --progress)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --generate)
                    COMPREPLY=($(compgen -W "man complete-bash complete-zsh complete-fish" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _backoff -o nosort -o bashdefault -o default backoff
else
    complete -F _backoff -o bashdefault -o default backoff
fi

# The wrapped command and its arguments are completed as if backoff were not there.
_backoff_or_command() {
    local word command=1
    while ((command < COMP_CWORD)); do
        word=${COMP_WORDS[command]}
        case $word in
        --) ((command++)); break ;;
        --attempts | --deadline | --timeout | --idle-timeout | --signal | --kill-after | --every | --base | --factor | --max-delay | --growth | --delays | --jitter | --spread | --slot-ceiling | --stop-at-delay | --initial-delay | --splay | --reset-after | --seed | --policy | --until | --success-exit | --success-match | --fail-match | --consecutive | --retry-exit | --stop-exit | --retry-match | --stop-match | --retry-signal | --stop-signal | --retry-if | --success-if | --for | --match-on | --max-retry-after | --stdin | --stdin-limit | --stdout | --stderr | --idempotent | --budget | --budget-ratio | --budget-min | --budget-window | --skipped-exit | --store | --store-timeout | --nested | --log-format | --log-file | --label | --report | --color | --progress | --on-retry | --before-retry | --on-give-up | --exhausted-exit | --flaky-exit | --config | --generate | -[ndtiskbfmgjper] | -[qv][ndtiskbfmgjper])
            [[ ${COMP_WORDS[command + 1]} == = ]] && ((command++))
            ((command += 2))
            ;;
        --cool-off | --hook-output)
            [[ ${COMP_WORDS[command + 1]} == = ]] && ((command += 2))
            ((command++))
            ;;
        -*) ((command++)) ;;
        *) break ;;
        esac
    done
    if ((command > COMP_CWORD)) || [[ $command == "$COMP_CWORD" && ${COMP_WORDS[COMP_CWORD]} == -* ]]; then
        _backoff "$@"
    elif declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$command"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$command"
    elif ((command == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
    else
        COMPREPLY=()
    fi
}
complete -F _backoff_or_command -o bashdefault -o default backoff
