# The tools: where they are, how each is told the same thing, and their versions.

tools=()
declare -A program title
tool() { # NAME TITLE PROGRAM
    local path
    path=$(command -v -- "$3") || return 0
    tools+=("$1") title[$1]=$2 program[$1]=$(realpath -s -- "$path")
}
tool backoff  'backoff'                 "${BACKOFF:-backoff}"
tool loop     'loop in bash'            bash
tool debian   'retry (Debian)'          "${DEBIAN_RETRY:-/usr/bin/retry}"
tool kadwanev 'retry (kadwanev)'        "${KADWANEV_RETRY:-}"
tool parallel 'GNU parallel --retries'  "${GNU_PARALLEL:-}"
tool recur    'recur (Python)'          "${RECUR:-recur}"
tool attempt  'attempt'                 "${ATTEMPT:-attempt}"
tool eb       'eb'                      "${EB:-eb}"
tool npm      'retry-cli (npm)'         "${NPM_RETRY:-}"
tool crate    'retry-cli (crate)'       "${CRATE_RETRY:-}"

# The loop that people write, with a status that it does not forget.
loop='tries=$1 wait=$2; shift 2; n=1
until "$@"; do
    status=$?
    [ "$n" -lt "$tries" ] || exit "$status"
    n=$((n + 1)); sleep "$wait"
done'

delay=0.01
options=()
# Sets `words`: the tool with `options`, TRIES attempts, `delay` seconds (whole ones for Debian's) between them.
wrap() { # TRIES COMMAND [ARG]...
    local tries=$1 p=${program[$tool]}
    shift
    case $tool in
        backoff)  words=("$p" -q -n "$tries" -b "${delay}s" -m "${delay}s" -j none "${options[@]}" -- "$@") ;;
        loop)     words=("$p" -c "$loop" loop "$tries" "$delay" "${options[@]}" "$@") ;;
        debian)   words=("$p" -t "$tries" -d "${delay%.*}" "${options[@]}" -- "$@") ;;
        kadwanev) words=("$p" -t $((tries - 1)) -s "$delay" "${options[@]}" -- "$@") ;;
        parallel) words=("$p" -n0 -q --halt 'now,fail=1' --retries "$tries" "${options[@]}" "$@" ::: x) ;;
        recur)    words=("$p" -t "$tries" -d "$delay" "${options[@]}" -- "$@") ;;
        attempt)  words=("$p" fixed -w "$delay" -a "$tries" "${options[@]}" -- "$@") ;;
        eb)       words=("$p" -x "$tries" "${options[@]}" -- "$@") ;;
        npm)      words=("$p" -n $((tries - 1)) -t "$(ms "$delay")" --factor 1 "${options[@]}" -- "$@") ;;
        crate)    words=("$p" --attempts "$tries" --min-duration "$(ms "$delay")ms" --factor 1 --jitter 0 "${options[@]}" -- "$@") ;;
    esac
}
ms() { awk "BEGIN { print $1 * 1000 }"; }

version() {
    local p=${program[$tool]}
    case $tool in
        kadwanev) sha256sum <"$p" | cut -c 1-12 ;;
        npm)      perl -MJSON::PP -0ne 'print decode_json($_)->{version}' "$(dirname "$(realpath "$p")")/package.json" ;;
        *)        "$p" --version 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+[^ ,]*|[0-9]{8}' | head -n 1 ;;
    esac
}
