# How each row is measured: row_NAME prints the cell of $tool.

# ---- How it ends ----

row_status() { wrap 3 ./exit7; quietly; echo "$ended"; }

row_killed() { wrap 1 ./dies; quietly; echo "$ended"; }

row_typo() { # how often it is tried, as strace sees it
    wrap 3 ./no-such-command
    words=(strace -f -qq -e trace=execve -o made.trace "${words[@]}")
    quietly
    local tries
    # The wrapper's own line names it as well.
    tries=$(grep -c '^[0-9]* *execve("./no-such-command"' made.trace)
    [ "$tries" -gt 0 ] || tries=$(grep -c 'execve(.*, \["./no-such-command"' made.trace)
    echo "$ended ($tries)"
}

row_term() {
    wrap 3 ./cleans-up; start
    kill -TERM "$pid"
    local how
    if until_true 50 '! alive "$pid"'; then
        if alive "$(<made.pid)"; then how='command left running'
        elif grep -q cleaned "$log"; then how='passed on'
        else how='command lost'; fi
    else how='ignored'; fi
    grep -q cleaned "$log" && [ "$how" != 'passed on' ] && how+=', passed on'
    [ "$(starts)" -gt 1 ] && how+=", then attempt $(starts)"
    kill -KILL "$(<made.pid)" 2>/dev/null
    finish
    echo "$how"
}

row_ctrl_c() {
    wrap 3 ./sleeps
    { printf '%q ' "${words[@]}"; echo; echo "echo next line >>$log"; } >made.script
    { until_true 100 '[ -s "$log" ]'; sleep 0.3; printf '\003'; sleep 2.5; } |
        timeout -s KILL 20 script -qec 'bash made.script' /dev/null >made.out 2>&1
    local how='script ends'
    grep -q 'next line' "$log" && how='script goes on'
    [ "$(starts)" -gt 1 ] && how+=", $(starts) attempts"
    echo "$how"
}

row_clean_up() {
    wrap 3 ./takes-its-time
    { printf '%q ' "${words[@]}"; echo; } >made.script
    { until_true 100 '[ -s "$log" ]'; sleep 0.3; printf '\003'; sleep 2.5; } |
        timeout -s KILL 20 script -qec 'bash made.script' /dev/null >made.out 2>&1
    grep -q cleaned "$log" && echo 'yes' || echo 'no'
}

row_pid1() {
    wrap 3 ./sleeps
    # Without a shell in between, that would be process 1.
    words=(unshare -rpf --mount-proc "${words[@]}"); start
    local first
    first=$(cut -d' ' -f1 "/proc/$pid/task/$pid/children")
    kill -TERM "$first"
    if until_true 15 '! alive "$first"'; then echo 'ends'; else echo 'goes on'; fi
    finish
}

row_timeout() {
    local options=()
    case $tool in
        backoff)  options=(-t 0.5s) ;;
        loop)     options=(timeout 0.5) ;;
        parallel) options=(--timeout 1) ;;
        attempt)  options=(-t 0.5s) ;;
        *) echo 'none'; return ;;
    esac
    wrap 1 ./hangs; quietly
    if alive "$(<made.pid)"; then echo "$ended, child left"; else echo "$ended, all ended"; fi
}

# ---- Streams ----

row_arguments() {
    wrap 1 ./args 'a b' '*' ''; quietly
    [ "$(<made.out)" = '<a b><*><>' ] && echo 'kept' || echo 'changed'
}

row_terminal() {
    wrap 1 ./tty
    printf '%q ' "${words[@]}" >made.script
    timeout -s KILL 20 script -qec 'bash made.script' /dev/null </dev/null 2>&1 | tr -d '\r' | grep -xE 'yes|no'
}

row_while_read() {
    wrap 1 ./works
    seq 3 | while read -r _; do "${words[@]}"; done >made.out 2>made.err
    echo "$(starts) of 3"
}

row_rest() {
    wrap 1 ./reads-a-line
    printf 'one\ntwo\n' | { "${words[@]}" >made.out 2>made.err; timeout 5 cat; } >made.rest
    [ "$(<made.rest)" = two ] && echo 'yes' || echo 'no'
}

row_replay() {
    wrap 2 ./reads
    printf 'one\ntwo\n' | timeout -s KILL 10 "${words[@]}" >made.out 2>made.err
    # A tool may have sent the first attempt's elsewhere.
    [ "$(tail -n 2 made.out)" = $'one\ntwo' ] && [ "$(cat made.out made.err | grep -cx two)" = 2 ] && echo 'yes' || echo 'no'
}

row_sigpipe() {
    wrap 3 ./endless
    timeout -s KILL 3 "${words[@]}" </dev/null 2>made.err | head -n 1 >made.out
    case ${PIPESTATUS[0]} in 137) echo 'does not end' ;; *) starts ;; esac
    kill -KILL "$(<made.pid)" 2>/dev/null
}

row_background() {
    wrap 1 ./leaves-one; quietly
    if [ "${took%.*}" -ge 1 ]; then echo 'waits for it'; else echo 'ends at once'; fi
}

row_held() {
    local options=()
    [ "$tool" = backoff ] && options=(--stdout success)
    wrap 3 ./parts; quietly
    [ "$(<made.out)" = 'part 2' ] && echo 'yes' || echo 'no'
}

row_held_memory() {
    local options=()
    [ "$tool" = backoff ] && options=(--stdout success)
    [ "$(row_held)" = yes ] || { echo '-'; return; }
    fresh
    memory_of_flood
}

row_memory() { memory_of_flood; }

memory_of_flood() {
    wrap 1 ./floods
    "${words[@]}" </dev/null >/dev/null 2>made.err &
    pid=$!
    until_true 200 '[ -e made.flood ]' || echo '?'
    awk '/^VmHWM/ { printf "%.0f MB\n", $2 / 1024 }' "/proc/$pid/status"
    finish
}

# ---- Which failures ----

row_codes() {
    local options=()
    case $tool in
        backoff) options=(--stop-exit 64) ;;
        debian)  options=(-w 75) ;;
        recur)   options=(-c 'code == 0 or (code == 64 and exit(64))') ;;
        attempt) options=(-F --stop-if-status 64) ;;
        *) echo 'none'; return ;;
    esac
    wrap 3 ./exit64; quietly
    echo "$ended ($(starts))"
}

row_output() {
    local options=() busy
    case $tool in
        backoff) options=(-r 'queue capacity') ;;
        attempt) options=(-r 'queue capacity') ;;
        *) echo 'none'; return ;;
    esac
    wrap 3 ./busy; quietly; busy=$(starts); fresh
    wrap 3 ./denied; quietly
    echo "$busy, $(starts)"
}

# ---- Waits ----

# The waits between the starts, in tenths of a second, rounded down.
gaps() { awk 'NR > 1 { printf "%s%.1f", (NR > 2 ? " " : ""), int(($1 - last) * 10) / 10 } { last = $1 }' made.ticks; }

row_waits() {
    local p=${program[$tool]}
    case $tool in
        backoff)  words=("$p" -q -n 5 -b 200ms -m 400ms -j none -- ./ticks) ;;
        kadwanev) words=("$p" -t 4 -m 0.2 -x 0.4 -- ./ticks) ;;
        recur)    words=("$p" -t 5 -d 0.2 -b 2 -m 0.4 -- ./ticks) ;;
        attempt)  words=("$p" exponential -x 200ms -M 400ms -a 5 -- ./ticks) ;;
        npm)      words=("$p" -n 4 -t 200 --max-timeout 400 -- ./ticks) ;;
        crate)    words=("$p" --attempts 5 --min-duration 200ms --max-duration 400ms --jitter 0 -- ./ticks) ;;
        debian)   words=("$p" -t 5 -d '1,2' -- ./ticks) ;;
        loop)     options=(); delay=0.2 wrap 5 ./ticks ;;
        *) echo '-'; return ;;
    esac
    quietly
    gaps
}

row_cap() {
    local p=${program[$tool]}
    case $tool in
        backoff) words=("$p" -q -n 7 -b 100ms -m 200ms -j additive --spread 1s -- ./ticks) ;;
        recur)   words=("$p" -t 7 -d 0.1 -b 2 -m 0.2 -j 1 -- ./ticks) ;;
        attempt) words=("$p" exponential -x 100ms -M 200ms -j 1s -a 7 -- ./ticks) ;;
        npm)     words=("$p" -n 6 -t 100 --max-timeout 200 --randomize -- ./ticks) ;;
        crate)   words=("$p" --attempts 7 --min-duration 100ms --max-duration 200ms --jitter 1 -- ./ticks) ;;
        eb) echo 'no cap'; return ;;
        *) echo 'no jitter'; return ;;
    esac
    quietly
    gaps | tr ' ' '\n' | sort -n | tail -n 1 | awk '{ print ($1 <= 0.2 ? "kept" : "passed") }'
}

row_retry_after() {
    [ "$tool" = backoff ] || { echo 'none'; return; }
    options=(--retry-after); wrap 2 ./throttled; options=(); quietly
    [ "${took%.*}" -ge 2 ] && echo 'waits' || echo 'does not wait'
}

row_budget() {
    [ "$tool" = backoff ] || { echo 'none'; return; }
    local i
    for i in 1 2 3; do
        BACKOFF_STORE=$dir/made.state "${program[backoff]}" -q -b 10ms --budget b --budget-min 4 -- ./exit7
    done 2>made.err
    echo "$(starts) of 15 calls"
}

row_nested() {
    [ "$tool" = parallel ] && { echo '-'; return; }
    [ "$tool" = backoff ] && options=(--nested once)
    wrap 3 ./exit7
    options=()
    wrap 3 "${words[@]}"
    quietly
    echo "$(starts) calls"
}

row_report() {
    if [ "$tool" = parallel ]; then
        options=(--joblog made.joblog); wrap 3 ./exit7; options=(); quietly
        echo "\`--joblog\`: a table, $(($(wc -l <made.joblog) - 1)) line"
        return
    fi
    [ "$tool" = backoff ] || { echo 'none'; return; }
    options=(--report made.report); wrap 3 ./exit7; options=(); quietly
    perl -MJSON::PP -0e '$r = decode_json(<>); print scalar @{ $r->{attempts} }, " attempts\n"' made.report
}

# ---- What it costs ----

row_size() {
    local p
    p=$(realpath -- "${program[$tool]}")
    local head=''
    read -r -n 64 head <"$p" 2>/dev/null
    case $tool:$head in
        loop:*)       echo 'none of its own; bash' ;;
        *:'#!'*python*) echo 'a script for Python' ;;
        *:'#!'*node*) echo 'a script for Node.js' ;;
        *:'#!'*perl*) echo "$(kib "$p"); Perl" ;;
        *:'#!'*bash*) echo "$(kib "$p"); bash" ;;
        *)            kib "$p" ;;
    esac
}
kib() { stat -c %s "$1" | awk '{ printf "%.0f KiB", $1 / 1024 }'; }

row_startup() {
    wrap 1 true
    perl -MTime::HiRes=time -e '
        sub took { my $began = time; system { $_[0] } @_; time - $began }
        # The first ones fill caches.
        my @ratios = map { my $t = took qw(timeout 60 true); took(@ARGV) / $t } 1 .. 105;
        @ratios = sort { $a <=> $b } @ratios[5 .. 104];
        printf STDERR "%.1f\n", $ratios[50];
    ' "${words[@]}" </dev/null 2>&1 >/dev/null | tail -n 1
}

row_waiting() {
    local delay=5
    case $tool in parallel | eb) echo '-'; return ;; esac
    wrap 2 ./exit7; start; sleep 1
    for p in $(tree "$pid"); do cat "/proc/$p/smaps_rollup"; done 2>/dev/null |
        awk '/^Pss:/ { all += $2 } /^Pss_Anon:/ { own += $2 } END { printf "%.1f MB (%.1f)\n", all / 1024, own / 1024 }'
    finish
}
