# Bash runs this file before each block. It removes the machine's configuration from the environment and defines the
# functions of the cases. SERVER, CLOSES and FULL are addresses of servers (tests/util/server.rs). ROOT is the path of
# the repository.

for name in $(compgen -e); do
    case $name in
        PATH | PWD | STARTED_BY_TEST | BACKOFF_CONFIG | XDG_STATE_HOME | ROOT | SERVER | CLOSES | FULL) ;;
        HOME | RUSTUP_* | PYENV_*) ;; # Wrappers of version managers need these variables.
        *) unset "$name" ;;
    esac
done
export PATH=$PATH:/usr/sbin LC_ALL=C no_proxy='*' NO_PROXY='*'
export RUSTUP_HOME=${RUSTUP_HOME-$HOME/.rustup} HOME=$PWD CARGO_HOME=$PWD/cargo
export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1 PIP_CONFIG_FILE=/dev/null WGETRC=/dev/null
trap 'kill $(jobs -p) 2>/dev/null' EXIT

# usage: retried PRESET LINE [SERVER...]
# Runs backoff on the command in LINE for each SERVER, and expects two attempts. A SERVER is `dead` (a closed port),
# `closes` (CLOSES) or a response of SERVER. In LINE, $at is the server's address and $port its port. Prints the output
# of each unexpected run. $said is the output of the last run.
retried() { tried '2 attempts' "$@"; }

# Like `retried`, but expects a single attempt.
final() { tried '1 attempt' "$@"; }

tried() {
    local attempts=$1 preset=$2 line=$3 server at port status end
    shift 3
    for server in "${@:-none}"; do
        case $server in
            dead) at=127.0.0.1:1 ;;
            closes) at=$CLOSES ;;
            none) at= ;;
            *) at=$SERVER/$server ;;
        esac
        port=${at#*:} port=${port%%/*}
        said=$(eval "backoff -n 2 -b 1ms -j none --for $preset -- $line" 2>&1)
        status=$?
        end="(exit $status|killed by SIG$(kill -l "$status" 2>/dev/null))"
        grep -qE "gave up after $attempts in .*\b$end\b" <<<"$said" || printf '%s: %s\n' "$server" "$line" "status $status" "$said"
    done
}

# Waits until a command succeeds.
until_it() { until "$@" 2>/dev/null; do sleep 0.01; done; }

# usage: gone PID
# Succeeds if the process has exited, even if it is still a zombie.
gone() { test ! -e /proc/$1 || grep -q '^State:.Z' /proc/$1/status; }

# usage: redis [OPTION...]
# Starts a Redis server with these options, as process $server. $store is the address of its socket, and $url of its
# port. `cli` runs a command on the server.
redis() {
    socket=$PWD/$RANDOM
    until
        port=$((RANDOM % 20000 + 10000))
        redis-server --port $port --unixsocket $socket --save '' --dir "$PWD" "$@" >/dev/null &
        server=$!
        until redis-cli -s $socket ping >/dev/null 2>&1 || ! kill -0 $server; do sleep 0.01; done
        kill -0 $server
    do :; done 2>/dev/null
    # A server that cannot save its data ignores SIGTERM.
    servers+=" $server"
    trap 'kill $(jobs -p) 2>/dev/null; kill -9 $servers 2>/dev/null' EXIT
    store=redis+unix://$socket url=redis://127.0.0.1:$port
}
cli() { redis-cli -s $socket "$@" 2>/dev/null; }

# Prints the attempts and retries that the server counts for a budget.
counted() { cli "${@:2}" get backoff:budget:$1 | awk '{ printf "%.0f %.0f\n", $2, $3 }'; }

# Checks that a run without its budget warns once and makes three attempts. Prints the reason in the warning.
goes_on() {
    backoff -b 1ms -j none -n 3 --budget api "$@" -- false 2>said
    test $? = 1 && test "$(grep -c warning said)" = 1 && grep -q 'gave up after 3 attempts' said || cat said
    sed -n "s|$PWD/[0-9]*|SOCKET|; s|/dev/null/backoff: Not a directory; |...; |; s/^backoff: warning: //p" said
}
