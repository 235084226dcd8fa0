# What the rows have in common: the commands of the scenes, and how words are run, started and ended.

dir=$(mktemp -d) || exit
trap 'cd /; rm -rf "$dir"' EXIT
cd "$dir" || exit
log=$dir/log

# A command of the scenes: a shell script, which notes its start in the log.
scene() { # NAME, the script on standard input
    { echo '#!/bin/bash'; echo "echo start >>$log"; cat; } >"$1"
    chmod +x "$1"
}
starts() { grep -c start "$log"; }
fresh() { rm -rf "$dir"/made.*; : >"$log"; }

# Runs `words`; sets `ended` to how they ended and `took` to how long it took. Streams are the caller's.
run() {
    local began=$EPOCHREALTIME
    perl -e '
        my $to = shift; my $pid = fork // die;
        if (!$pid) { exec { $ARGV[0] } @ARGV; exit 99 }
        $SIG{ALRM} = sub { kill KILL => $pid; $late = 1 };
        alarm 20; waitpid $pid, 0;
        open my $file, ">", $to;
        print $file $late ? "never ends" : $? & 127 ? "signal " . ($? & 127) : $? >> 8;
    ' made.ended "${words[@]}"
    took=$(awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $began }")
    ended=$(<made.ended)
}
quietly() { run </dev/null >made.out 2>made.err; }

# Starts `words` in a session of their own, waits for the first start in the log; `pid` is theirs.
start() {
    setsid "${words[@]}" </dev/null >made.out 2>made.err &
    pid=$!
    until_true 100 '[ -s "$log" ]'
}
until_true() { # TENTHS CONDITION
    local i
    for ((i = 0; i < $1; i++)); do
        eval "$2" && return
        sleep 0.1
    done
    return 1
}
alive() { kill -0 "$1" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }
# A process and all below it.
tree() {
    local child children
    echo "$1"
    read -ra children 2>/dev/null <"/proc/$1/task/$1/children"
    for child in "${children[@]}"; do tree "$child"; done
}
finish() { # whatever is left of it
    tree "$pid" | xargs kill -KILL 2>/dev/null
    wait "$pid" 2>/dev/null
}

scene exit7 <<<'exit 7'
scene dies <<<'kill -TERM $$'
scene works <<<'exit 0'
scene sleeps <<<"echo \$\$ >$dir/made.pid; exec sleep 3"
scene cleans-up <<END
echo \$\$ >$dir/made.pid
trap 'echo cleaned >>$log; exit 3' TERM
for ((i = 0; i < 30; i++)); do sleep 0.1; done
exit 1
END
scene takes-its-time <<END
trap 'sleep 0.5; echo cleaned >>$log; exit 3' INT
for ((i = 0; i < 30; i++)); do sleep 0.1; done
END
scene reads <<<"cat; [ \$(grep -c start $log) -ge 2 ]"
scene reads-a-line <<<'read -r line; echo "$line"'
scene parts <<<"n=\$(grep -c start $log); echo part \$n; [ \$n -ge 2 ]"
scene args <<<'printf "<%s>" "$@"'
scene tty <<<'if [ -t 1 ]; then echo yes; else echo no; fi'
scene endless <<<"echo \$\$ >$dir/made.pid; while echo y; do :; done"
scene leaves-one <<<'sleep 2 & exit 0'
scene hangs <<<"sleep 4 & echo \$! >$dir/made.pid; sleep 4"
scene exit64 <<<'exit 64'
scene busy <<<'echo "error: queue capacity reached"; exit 1'
scene denied <<<'echo "error: denied"; exit 1'
scene floods <<<"head -c 256M /dev/zero; touch $dir/made.flood; sleep 1"
scene throttled <<<'echo "Retry-After: 2"; exit 1'
scene ticks <<<"echo \$EPOCHREALTIME >>$dir/made.ticks; exit 1"
