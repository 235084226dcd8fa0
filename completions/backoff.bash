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
            opts="-n -d -t -i -s -k -e -r -b -f -m -g -j -p -q -v -h -V --attempts --deadline --stop-after --timeout --idle-timeout --signal --kill-after --nested --until --success-exit --success-match --fail-match --consecutive --retry-exit --stop-exit --retry-match --stop-match --retry-if --success-if --for --match-on --idempotent --every --base --factor --max-delay --growth --delays --jitter --stop-at-delay --initial-delay --splay --reset-after --retry-after --seed --policy --stdin --stdin-limit --stdout --stderr --pty --on-retry --before-retry --on-give-up --hook-output --budget --budget-ratio --budget-min --budget-window --store --store-down --quiet --verbose --log-format --log-file --label --report --color --progress --exhausted-exit --flaky-exit --plan --list-presets --list-policies --config --generate --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --attempts)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                -n)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --deadline)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                -d)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --stop-after)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                -t)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --idle-timeout)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                -i)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --signal)
                    COMPREPLY=($(compgen -W "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS" -- "${cur}"))
                    return 0
                    ;;
                -s)
                    COMPREPLY=($(compgen -W "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS" -- "${cur}"))
                    return 0
                    ;;
                --kill-after)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                -k)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --nested)
                    COMPREPLY=($(compgen -W "allow once warn" -- "${cur}"))
                    return 0
                    ;;
                --until)
                    COMPREPLY=($(compgen -W "success failure never" -- "${cur}"))
                    return 0
                    ;;
                --success-exit)
                    COMPREPLY=($(compgen -W "timeout HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS" -- "${cur}"))
                    return 0
                    ;;
                --success-match)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --fail-match)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --consecutive)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --retry-exit)
                    COMPREPLY=($(compgen -W "timeout HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS" -- "${cur}"))
                    return 0
                    ;;
                -e)
                    COMPREPLY=($(compgen -W "timeout HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS" -- "${cur}"))
                    return 0
                    ;;
                --stop-exit)
                    COMPREPLY=($(compgen -W "timeout HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS" -- "${cur}"))
                    return 0
                    ;;
                --retry-match)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                -r)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --stop-match)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --retry-if)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --success-if)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --for)
                    COMPREPLY=($(compgen -W "auto ansible-playbook apk apt aws az borg brew bun bundle cargo composer conda corepack cosign curl dnf docker dotnet ffmpeg flatpak flock ftp gcloud gem gh git git-lfs glab go gpg gradle helm hg huggingface-cli kubectl lftp mongosh mvn mysql netlify network nix npm packer pacman pg_dump pg_isready pip playwright pnpm poetry psql pulumi rclone redis-cli restic rosdep rsync rustup s3cmd scp sftp skopeo snap sqlite3 ssh stack svn sysexits terraform twine uv vercel wget wrangler yarn zypper" -- "${cur}"))
                    return 0
                    ;;
                --match-on)
                    COMPREPLY=($(compgen -W "stdout stderr both" -- "${cur}"))
                    return 0
                    ;;
                --idempotent)
                    COMPREPLY=($(compgen -W "yes no" -- "${cur}"))
                    return 0
                    ;;
                --every)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --base)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                -b)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --factor)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                -f)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --max-delay)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                -m)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
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
                --delays)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
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
                --stop-at-delay)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --initial-delay)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --splay)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --reset-after)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --seed)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --policy)
                    COMPREPLY=($(compgen -W "$(backoff ${config:+--config "$config"} --list-policies 2>/dev/null | sed 's/ .*//')" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "$(backoff ${config:+--config "$config"} --list-policies 2>/dev/null | sed 's/ .*//')" -- "${cur}"))
                    return 0
                    ;;
                --stdin)
                    COMPREPLY=($(compgen -W "auto inherit replay null" -- "${cur}"))
                    return 0
                    ;;
                --stdin-limit)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
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
                --on-retry)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --before-retry)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --on-give-up)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --budget)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --budget-ratio)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --budget-min)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --budget-window)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --store)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --store-down)
                    COMPREPLY=($(compgen -W "local deny" -- "${cur}"))
                    return 0
                    ;;
                --log-format)
                    COMPREPLY=($(compgen -W "text json github" -- "${cur}"))
                    return 0
                    ;;
                --log-file)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --label)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --report)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
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
                --exhausted-exit)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --flaky-exit)
                    COMPREPLY=("${cur}")
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o nospace
                    fi
                    return 0
                    ;;
                --config)
                    local oldifs
                    if [ -n "${IFS+x}" ]; then
                        oldifs="$IFS"
                    fi
                    IFS=$'\n'
                    COMPREPLY=($(compgen -f "${cur}"))
                    if [ -n "${oldifs+x}" ]; then
                        IFS="$oldifs"
                    fi
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o filenames
                    fi
                    return 0
                    ;;
                --generate)
                    COMPREPLY=($(compgen -W "man complete-bash complete-zsh complete-fish" -- "${cur}"))
                    return 0
                    ;;
                --help)
                    COMPREPLY=($(compgen -W "time rules waits streams hooks budgets output other examples" -- "${cur}"))
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

# Completes COMMAND, which begins with word $1, as if backoff were not there; after --list-presets, the names of presets.
_backoff_command() {
    if [[ $presets ]]; then
        COMPREPLY=($(compgen -W 'ansible-playbook apk apt aws az borg brew bun bundle cargo composer conda corepack cosign curl dnf docker dotnet ffmpeg flatpak flock ftp gcloud gem gh git git-lfs glab go gpg gradle helm hg huggingface-cli kubectl lftp mongosh mvn mysql netlify network nix npm packer pacman pg_dump pg_isready pip playwright pnpm poetry psql pulumi rclone redis-cli restic rosdep rsync rustup s3cmd scp sftp skopeo snap sqlite3 ssh stack svn sysexits terraform twine uv vercel wget wrangler yarn zypper' -- "${COMP_WORDS[COMP_CWORD]}"))
    elif declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif (($1 == COMP_CWORD)); then
        COMPREPLY=($(compgen -c -- "${COMP_WORDS[COMP_CWORD]}"))
    else
        compopt -o bashdefault -o default 2>/dev/null
    fi
}

# Completes the text $3 of the option $1; $2 stands before it in the same word.
_backoff_text() {
    local option=$1 before=$2 text=$3
    [[ $option == --* ]] || option=-${option: -1}
    if [[ $option =~ ^(-e|--(for|retry-exit|stop-exit|success-exit))$ && $text == *,* ]]; then
        before+=${text%,*},
        text=${text##*,}
    fi
    local COMP_WORDS=(backoff "$option" "$text") COMP_CWORD=2
    _backoff backoff "$text" "$option"
    COMPREPLY=("${COMPREPLY[@]/#/$before}")
}

# Finds out which option, text or command is at the cursor.
_backoff_line() {
    local at=1 option='' presets='' config=${BACKOFF_CONFIG-} word cur=${COMP_WORDS[COMP_CWORD]}
    local takes_next='^(--(attempts|deadline|stop-after|timeout|idle-timeout|signal|kill-after|nested|until|success-exit|success-match|fail-match|consecutive|retry-exit|stop-exit|retry-match|stop-match|retry-if|success-if|for|match-on|idempotent|every|base|factor|max-delay|growth|delays|jitter|stop-at-delay|initial-delay|splay|reset-after|seed|policy|stdin|stdin-limit|stdout|stderr|on-retry|before-retry|on-give-up|budget|budget-ratio|budget-min|budget-window|store|store-down|log-format|log-file|label|report|color|progress|exhausted-exit|flaky-exit|config|generate|help)|-[qvhV]*[ndtiskerbfmgjp])$' with_text='^(-[qvhV]*[ndtiskerbfmgjp]|--[a-z-]+=)(.*)$'
    COMPREPLY=()
    while ((at < COMP_CWORD)); do
        word=${COMP_WORDS[at]}
        if [[ $word == -- ]]; then
            _backoff_command $((at + 1))
            return
        elif [[ $word =~ $takes_next || ($word == --* && ${COMP_WORDS[at + 1]} == =) ]]; then
            option=$word
            ((++at < COMP_CWORD)) && [[ ${COMP_WORDS[at]} == = ]] && ((++at))
            [[ $option == --config ]] && ((at < COMP_CWORD)) && config=${COMP_WORDS[at]}
        elif [[ $word == --config=* ]]; then
            config=${word#*=}
        elif [[ $word == --list-presets ]]; then
            presets=1
        elif [[ $word != -* ]]; then
            break
        fi
        ((at < COMP_CWORD)) || break
        ((++at))
        # bash has taken the text apart.
        while [[ $option && ${COMP_WORDS[at]} == [:=]* ]]; do ((at += 2)); done
        option=''
    done
    if [[ $option ]]; then
        _backoff_text "$option" '' "${cur#=}"
    elif ((at == COMP_CWORD)) && [[ $cur =~ $with_text ]]; then
        _backoff_text "${BASH_REMATCH[1]%=}" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
    elif ((at == COMP_CWORD)) && [[ $cur == -* ]]; then
        _backoff "$1" "$cur" ''
    elif ((at <= COMP_CWORD)); then
        _backoff_command "$at"
    fi
}
complete -F _backoff_line backoff
