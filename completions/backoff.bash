# backoff(1) in bash. With bash-completion the command is completed as if backoff were not there.

# Completes what is wrapped, which begins with this word; behind --list-presets that is the names of some.
_backoff_command() {
    if [[ $presets ]]; then
        COMPREPLY=($(compgen -W 'ansible-playbook apk apt aws az borg brew bun bundle cargo composer conda curl dnf docker dotnet ffmpeg flatpak flock ftp gcloud gem gh git git-lfs go gradle helm hg kubectl lftp mongosh mvn mysql network nix npm packer pacman pg_dump pg_isready pip pnpm poetry psql pulumi rclone redis-cli restic rsync rustup scp sftp skopeo snap sqlite3 ssh svn sysexits terraform twine uv wget yarn zypper' -- "${COMP_WORDS[COMP_CWORD]}"))
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

# Completes the value $3 of the option $1. What stands before it in the same word is $2.
_backoff_value() {
    local option=$1 before=$2 value=$3 words='' list=''
    [[ $option == --* ]] || option=-${option: -1}
    case $option in
    --signal | -s) words='HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS' ;;
    --growth | -g) words='exponential linear fibonacci constant' ;;
    --jitter | -j) words='none full equal decorrelated additive proportional slotted' ;;
    --policy | -p) words=$(backoff --list-policies 2>/dev/null | sed 's/ .*//') ;;
    --until) words='success failure never' ;;
    --success-exit) words='timeout HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS' list=1 ;;
    --retry-exit | -e) words='timeout HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS' list=1 ;;
    --stop-exit) words='timeout HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS' list=1 ;;
    --retry-if) compopt -o default 2>/dev/null ;;
    --success-if) compopt -o default 2>/dev/null ;;
    --for) words='auto ansible-playbook apk apt aws az borg brew bun bundle cargo composer conda curl dnf docker dotnet ffmpeg flatpak flock ftp gcloud gem gh git git-lfs go gradle helm hg kubectl lftp mongosh mvn mysql network nix npm packer pacman pg_dump pg_isready pip pnpm poetry psql pulumi rclone redis-cli restic rsync rustup scp sftp skopeo snap sqlite3 ssh svn sysexits terraform twine uv wget yarn zypper' list=1 ;;
    --match-on) words='stdout stderr both' ;;
    --stdin) words='auto inherit replay null' ;;
    --stdout) words='stream final success failure null' ;;
    --stderr) words='stream final failure null' ;;
    --idempotent) words='yes no' ;;
    --cool-off) words='skip' ;;
    --store) compopt -o default 2>/dev/null ;;
    --store-down) words='local deny' ;;
    --nested) words='allow once warn' ;;
    --log-format) words='text json github github-groups' ;;
    --log-file) compopt -o default 2>/dev/null ;;
    --report) compopt -o default 2>/dev/null ;;
    --color) words='auto always never' ;;
    --progress) words='auto always never' ;;
    --on-retry) compopt -o default 2>/dev/null ;;
    --before-retry) compopt -o default 2>/dev/null ;;
    --on-give-up) compopt -o default 2>/dev/null ;;
    --config) compopt -o default 2>/dev/null ;;
    --generate) words='man complete-bash complete-zsh complete-fish' ;;
    --help) words='time wait judge streams protect say other' ;;
    esac
    if [[ $list && $value == *,* ]]; then
        before+=${value%,*},
        value=${value##*,}
    fi
    COMPREPLY=($(compgen -P "$before" -W "$words" -- "$value"))
}

_backoff() {
    local at=1 option='' presets='' word cur=${COMP_WORDS[COMP_CWORD]}
    local takes_next='^(--(attempts|deadline|stop-after|timeout|idle-timeout|signal|kill-after|every|base|factor|max-delay|growth|delays|jitter|spread|stop-at-delay|initial-delay|splay|reset-after|seed|policy|until|success-exit|success-match|fail-match|consecutive|retry-exit|stop-exit|retry-match|stop-match|retry-if|success-if|for|match-on|max-retry-after|stdin|stdin-limit|stdout|stderr|idempotent|budget|budget-ratio|budget-min|budget-window|skipped-exit|store|store-down|nested|log-format|log-file|label|report|color|progress|on-retry|before-retry|on-give-up|exhausted-exit|flaky-exit|config|generate|help)|-[qvhV]*[ndtiskbfmgjper])$'
    local may_take='^--(cool-off|hook-output)$' with_value='^(-[qvhV]*[ndtiskbfmgjper]|--[a-z-]+=)(.*)$'
    COMPREPLY=()
    while ((at < COMP_CWORD)); do
        word=${COMP_WORDS[at]}
        if [[ $word == -- ]]; then
            _backoff_command $((at + 1))
            return
        elif [[ $word =~ $takes_next ]]; then
            option=$word
            ((++at < COMP_CWORD)) && [[ ${COMP_WORDS[at]} == = ]] && ((++at))
        elif [[ $word =~ $may_take && ${COMP_WORDS[at + 1]} == = ]]; then
            option=$word
            ((at += 2))
        elif [[ $word == --list-presets ]]; then
            presets=1
        elif [[ $word != -* ]]; then
            break
        fi
        ((at < COMP_CWORD)) || break
        ((++at))
        # bash has taken the value apart.
        while [[ $option && ${COMP_WORDS[at]} == [:=]* ]]; do ((at += 2)); done
        option=''
    done
    if [[ $option ]]; then
        _backoff_value "$option" '' "${cur#=}"
    elif ((at == COMP_CWORD)) && [[ $cur =~ $with_value ]]; then
        _backoff_value "${BASH_REMATCH[1]%=}" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
        # A letter alone is complete.
        [[ $cur != -? || ${COMPREPLY[*]} ]] || COMPREPLY=("$cur")
    elif ((at == COMP_CWORD)) && [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W '--attempts -n --deadline -d --stop-after --timeout -t --idle-timeout -i --signal -s --kill-after -k --every --base -b --factor -f --max-delay -m --growth -g --delays --jitter -j --spread --stop-at-delay --initial-delay --splay --reset-after --seed --policy -p --until --success-exit --success-match --fail-match --consecutive --retry-exit -e --stop-exit --retry-match -r --stop-match --retry-if --success-if --for --match-on --retry-after --max-retry-after --stdin --stdin-limit --stdout --stderr --pty --idempotent --budget --budget-ratio --budget-min --budget-window --cool-off --skipped-exit --store --store-down --nested --quiet -q --verbose -v --log-format --log-file --label --report --color --progress --on-retry --before-retry --on-give-up --hook-output --exhausted-exit --flaky-exit --c-locale --plan --plot --list-presets --list-policies --config --generate --help -h --version -V' -- "$cur"))
    elif ((at <= COMP_CWORD)); then
        _backoff_command "$at"
    fi
}
complete -F _backoff backoff
