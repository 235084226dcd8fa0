#!/usr/bin/env bash
# Puts retry tools through the same scenes and prints the tables of docs/comparison.md, or the rows that are named.
# `cargo run --release -p lab -- behaviour` starts it, and names the build of backoff.
set -u
export LC_ALL=C
unset PARALLEL "${!BACKOFF_@}"

here=$(dirname "$(realpath "$0")")
# shellcheck source=tools.sh
. "$here/tools.sh"
# shellcheck source=scenes.sh
. "$here/scenes.sh"
# shellcheck source=rows.sh
. "$here/rows.sh"

wanted=("$@")
for row in "${wanted[@]}"; do
    declare -F "row_$row" >/dev/null || { echo "there is no row $row" >&2; exit 2; }
done

table() { # TITLE, then lines "row|what it says"
    local row text cells
    printf '\n### %s\n\n' "$1"
    printf '| |'; for tool in "${tools[@]}"; do printf ' %s |' "${title[$tool]}"; done; echo
    printf '|---|'; for tool in "${tools[@]}"; do printf -- '---|'; done; echo
    while IFS='|' read -r row text; do
        [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " = *" $row "* ]] || continue
        cells=
        for tool in "${tools[@]}"; do
            options=() delay=0.01
            fresh
            cells+=" $("row_$row" 2>/dev/null) |"
        done
        printf '| %s |%s\n' "$text" "$cells"
    done
}

printf 'Measured on %s, %s, %s processors:' "$(date +%F)" "$(uname -sr | grep -oE '[A-Za-z]+ [0-9]+\.[0-9]+')" "$(nproc)"
for tool in "${tools[@]}"; do printf ' %s %s;' "${title[$tool]}" "$(version)"; done
echo

table 'How it ends' <<'END'
status|three attempts that exit with 7: status
killed|the command dies of TERM: status
typo|no such command: status (how often tried)
term|TERM to the tool while the command, which handles TERM, runs
ctrl_c|Ctrl-C at a terminal: the script around it
clean_up|Ctrl-C: a command that cleans up for 0.5 s gets to the end of it
pid1|TERM to the tool as process 1 of a container
timeout|its own time-out for an attempt: status; what the command has started
END
table 'Streams' <<'END'
arguments|arguments `'a b' '*' ''`
terminal|the command's output is still a terminal
while_read|`seq 3 \| while read x; do TOOL command; done`: rounds
rest|what the command left on a pipe is there for the next one
replay|a second attempt reads the same pipe
sigpipe|`TOOL endless \| head -n 1`: attempts
background|the command leaves a background process, which holds its output
held|output of failed attempts can be kept off standard output
memory|memory after 256 MiB of output
held_memory|the same, where output is kept back until success
END
table 'Which failures' <<'END'
codes|a code can be final: status (attempts)
output|output can decide: attempts if it matches, if it does not
END
table 'Waits' <<'END'
waits|0.2 s, doubling, at most 0.4 s (Debian: 1 s, 2 s)
cap|the longest wait, with jitter and a cap of 0.2 s
retry_after|the output says `Retry-After: 2`
budget|three runs of up to five attempts that share a budget
nested|three attempts inside three attempts
report|a report in JSON of three attempts
END
table 'What it costs' <<'END'
size|size of the program; what it needs
startup|time for `true`, over that of `timeout 60 true`
waiting|memory during a wait: PSS, with children (not backed by files)
END
