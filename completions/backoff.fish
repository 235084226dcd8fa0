# backoff(1) in fish. The command and its arguments are completed as if backoff were not there.

# Prints the words of the command before the cursor, if it begins there, or may not be an option of backoff any more.
# Otherwise 1 where an option or the command may stand at the cursor, 2 where the value of an option does, and 3 where it is
# the name of a preset.
function __backoff_command
    set -l words (commandline -opc)
    set -l place 1
    set -e words[1]
    while set -q words[1]
        if test "$words[1]" = --list-presets
            set place 3
            set -e words[1]
        else if test $place -eq 3; and string match -qr -- '^--$|^[^-]' "$words[1]"
            return 3
        else if test "$words[1]" = --
            string join \n -- $words[2..]
            return 0
        else if string match -qr -- '^(--(attempts|deadline|stop-after|timeout|idle-timeout|signal|kill-after|every|base|factor|max-delay|growth|delays|jitter|spread|stop-at-delay|initial-delay|splay|reset-after|seed|policy|until|success-exit|success-match|fail-match|consecutive|retry-exit|stop-exit|retry-match|stop-match|retry-if|success-if|for|match-on|max-retry-after|stdin|stdin-limit|stdout|stderr|idempotent|budget|budget-ratio|budget-min|budget-window|skipped-exit|store|store-down|nested|log-format|log-file|label|report|color|progress|on-retry|before-retry|on-give-up|exhausted-exit|flaky-exit|config|generate|help)|-[qvhV]*[ndtiskbfmgjper])$' "$words[1]"
            set -q words[2]
            or return 2
            set -e words[1..2]
        else if string match -q -- '-*' "$words[1]"
            set -e words[1]
        else
            string join \n -- $words
            return 0
        end
    end
    return $place
end

function __backoff_complete_command
    set -l words (__backoff_command)
    set -l place $status
    set -l cur (commandline -ct)
    test $place -eq 2
    and return
    # It does not begin with a dash; to complete one would offer all that have one in them.
    test -z "$words"
    and string match -q -- '-*' "$cur"
    and return
    if test $place -eq 3
        string split ' ' -- 'ansible-playbook apk apt aws az borg brew bun bundle cargo composer conda curl dnf docker dotnet ffmpeg flatpak flock ftp gcloud gem gh git git-lfs go gradle helm hg kubectl lftp mongosh mvn mysql network nix npm packer pacman pg_dump pg_isready pip pnpm poetry psql pulumi rclone redis-cli restic rsync rustup scp sftp skopeo snap sqlite3 ssh svn sysexits terraform twine uv wget yarn zypper'
        return
    end
    complete -C (string join ' ' -- (string escape -- $words) "$cur")
end

# Each of these words, behind those that a list has already.
function __backoff_list
    set -l value (commandline -ct | string replace -r -- '^--[a-z-]+=' '')
    set -l before (string match -r -- '.*,' "$value")
    printf '%s\n' "$before"$argv
end

complete -c backoff -f -a '(__backoff_complete_command)'
complete -c backoff -n 'not __backoff_command >/dev/null' -s n -l attempts -x -d 'Attempts in all, the first included [default: 5; unlimited with --deadline, --stop-after or --until never, and where a --policy says so]'
complete -c backoff -n 'not __backoff_command >/dev/null' -s d -l deadline -x -d 'Bound on the whole run'
complete -c backoff -n 'not __backoff_command >/dev/null' -l stop-after -x -d 'Begin no further attempt after this time'
complete -c backoff -n 'not __backoff_command >/dev/null' -s t -l timeout -x -d 'Bound on one attempt; of a list the last entry repeats'
complete -c backoff -n 'not __backoff_command >/dev/null' -s i -l idle-timeout -x -d 'Bound on silence: an attempt that prints nothing for so long is ended'
complete -c backoff -n 'not __backoff_command >/dev/null' -s s -l signal -x -a 'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS'
complete -c backoff -n 'not __backoff_command >/dev/null' -s s -l signal -x -d 'What these bounds send first [default: TERM]'
complete -c backoff -n 'not __backoff_command >/dev/null' -s k -l kill-after -x -d 'Time from that signal to KILL; 0 is never [default: 5s]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l every -x -d 'A fixed wait: constant growth, no jitter'
complete -c backoff -n 'not __backoff_command >/dev/null' -s b -l base -x -d 'The first wait\'s scale [default: 500ms; 0 with --until failure]'
complete -c backoff -n 'not __backoff_command >/dev/null' -s f -l factor -x -d 'Growth per retry, at least 1 [default: 2; 3 with decorrelated jitter]'
complete -c backoff -n 'not __backoff_command >/dev/null' -s m -l max-delay -x -d 'The cap: no wait is longer, jitter included [default: 30s]'
complete -c backoff -n 'not __backoff_command >/dev/null' -s g -l growth -x -a 'exponential linear fibonacci constant'
complete -c backoff -n 'not __backoff_command >/dev/null' -s g -l growth -x -d 'How the un-jittered wait grows [default: exponential; constant with --until failure]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l delays -x -d 'An explicit list of waits instead of growth; its last entry repeats'
complete -c backoff -n 'not __backoff_command >/dev/null' -s j -l jitter -x -a 'none full equal decorrelated additive proportional slotted'
complete -c backoff -n 'not __backoff_command >/dev/null' -s j -l jitter -x -d 'The randomness [default: decorrelated; full with --growth; none with --delays or --until failure]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l spread -x -d 'The width of additive (a duration) or proportional (a percentage) jitter [default: 1s; 25%]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l stop-at-delay -x -d 'Give up once the next un-jittered wait would reach this'
complete -c backoff -n 'not __backoff_command >/dev/null' -l initial-delay -x -d 'Wait before the first attempt [default: 0]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l splay -x -d 'A further uniform random wait in [0, DURATION] before the first attempt [default: 0]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l reset-after -x -d 'An attempt that ran at least this long before it failed starts the growth and the attempt count again'
complete -c backoff -n 'not __backoff_command >/dev/null' -l seed -x -d 'Reproducible waits: same build, same seed, same waits'
complete -c backoff -n 'not __backoff_command >/dev/null' -s p -l policy -x -a '(backoff --list-policies 2>/dev/null | string match -r "^[^ ]+")'
complete -c backoff -n 'not __backoff_command >/dev/null' -s p -l policy -x -d 'A named set of options; those given explicitly win'
complete -c backoff -n 'not __backoff_command >/dev/null' -l until -x -a 'success failure never'
complete -c backoff -n 'not __backoff_command >/dev/null' -l until -x -d 'What to go on until: a success, a failure, or neither [default: success]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l success-exit -x -a '(__backoff_list timeout HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS)'
complete -c backoff -n 'not __backoff_command >/dev/null' -l success-exit -x -d 'Exit codes that are not a failure; may be repeated [default: 0]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l success-match -x -d 'Success takes a line of output that matches; may be repeated'
complete -c backoff -n 'not __backoff_command >/dev/null' -l fail-match -x -d 'A line of output that matches is a failure, whatever the exit code; may be repeated'
complete -c backoff -n 'not __backoff_command >/dev/null' -l consecutive -x -d 'Success means N successful attempts in a row, --base apart [default: 1]'
complete -c backoff -n 'not __backoff_command >/dev/null' -s e -l retry-exit -x -a '(__backoff_list timeout HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS)'
complete -c backoff -n 'not __backoff_command >/dev/null' -s e -l retry-exit -x -d 'Exit codes of transient failures; all others are then permanent; may be repeated'
complete -c backoff -n 'not __backoff_command >/dev/null' -l stop-exit -x -a '(__backoff_list timeout HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS)'
complete -c backoff -n 'not __backoff_command >/dev/null' -l stop-exit -x -d 'Exit codes of permanent failures; wins over every retry rule; may be repeated'
complete -c backoff -n 'not __backoff_command >/dev/null' -s r -l retry-match -x -d 'A failure whose output has a matching line is transient; all others are then permanent; may be repeated'
complete -c backoff -n 'not __backoff_command >/dev/null' -l stop-match -x -d 'A failure whose output has a matching line is permanent; may be repeated'
complete -c backoff -n 'not __backoff_command >/dev/null' -l retry-if -r -F -d 'Ask this shell command whether a failure is transient: exit 0 is yes, 1 is no'
complete -c backoff -n 'not __backoff_command >/dev/null' -l success-if -r -F -d 'Ask this shell command whether a success is one: exit 0 is yes, 1 is no'
complete -c backoff -n 'not __backoff_command >/dev/null' -l for -x -a '(__backoff_list auto ansible-playbook apk apt aws az borg brew bun bundle cargo composer conda curl dnf docker dotnet ffmpeg flatpak flock ftp gcloud gem gh git git-lfs go gradle helm hg kubectl lftp mongosh mvn mysql network nix npm packer pacman pg_dump pg_isready pip pnpm poetry psql pulumi rclone redis-cli restic rsync rustup scp sftp skopeo snap sqlite3 ssh svn sysexits terraform twine uv wget yarn zypper)'
complete -c backoff -n 'not __backoff_command >/dev/null' -l for -x -d 'Rules known for a tool: curl, ssh, apt-get, ...; auto goes by COMMAND\'s name'
complete -c backoff -n 'not __backoff_command >/dev/null' -l match-on -x -a 'stdout stderr both'
complete -c backoff -n 'not __backoff_command >/dev/null' -l match-on -x -d 'What the regexes, --retry-if, --success-if, --retry-after and --hook-output look at [default: both]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l retry-after -d 'Where the output names a wait (Retry-After: 30, try again in 5s), wait at least that long'
complete -c backoff -n 'not __backoff_command >/dev/null' -l max-retry-after -x -d 'The longest wait that the output may ask for; past it, give up [default: 5m]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l stdin -x -a 'auto inherit replay null'
complete -c backoff -n 'not __backoff_command >/dev/null' -l stdin -x -d 'What each attempt gets as standard input [default: auto]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l stdin-limit -x -d 'The most that is kept for replay [default: 1GiB]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l stdout -x -a 'stream final success failure null'
complete -c backoff -n 'not __backoff_command >/dev/null' -l stdout -x -d 'stream it, print only the last attempt\'s, only that of a success, only that of a failed run, or drop it [default: stream]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l stderr -x -a 'stream final failure null'
complete -c backoff -n 'not __backoff_command >/dev/null' -l stderr -x -d 'stream it, print only the last attempt\'s, only that of a failed run, or drop it [default: stream]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l pty -d 'Run each attempt on a pseudo-terminal, so that colours survive while output is looked at'
complete -c backoff -n 'not __backoff_command >/dev/null' -l idempotent -x -a 'yes no'
complete -c backoff -n 'not __backoff_command >/dev/null' -l idempotent -x -d 'Whether COMMAND is idempotent: whether it may be carried out twice [default: yes]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l budget -x -d 'Retries of all runs that share NAME may be at most a fraction of their attempts'
complete -c backoff -n 'not __backoff_command >/dev/null' -l budget-ratio -x -d 'That fraction [default: 10%]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l budget-min -x -d 'Attempts in the window below which every retry is allowed [default: 10]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l budget-window -x -d 'How long an attempt counts [default: 10m]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l cool-off -a 'skip'
complete -c backoff -n 'not __backoff_command >/dev/null' -l cool-off -d 'Wait before the first attempt if the last run of this budget gave up on a transient failure'
complete -c backoff -n 'not __backoff_command >/dev/null' -l skipped-exit -x -d 'Status of a run that --cool-off=skip ends [default: 75]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l store -r -F -d 'Where budgets are kept: a directory, or redis://, rediss://, redis+unix:// for a fleet'
complete -c backoff -n 'not __backoff_command >/dev/null' -l store-down -x -a 'local deny'
complete -c backoff -n 'not __backoff_command >/dev/null' -l store-down -x -d 'Without an answer of the store: use this machine\'s own budget, or deny retries [default: local]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l nested -x -a 'allow once warn'
complete -c backoff -n 'not __backoff_command >/dev/null' -l nested -x -d 'What to do under an outer backoff: retry, run once, or retry and say so [default: warn]'
complete -c backoff -n 'not __backoff_command >/dev/null' -s q -l quiet -d 'Say nothing but backoff\'s own errors and warnings'
complete -c backoff -n 'not __backoff_command >/dev/null' -s v -l verbose -d 'Also say starts and successes; twice: also arguments and streams'
complete -c backoff -n 'not __backoff_command >/dev/null' -l log-format -x -a 'text json github github-groups'
complete -c backoff -n 'not __backoff_command >/dev/null' -l log-format -x -d 'The form of what backoff says: lines for people, JSON lines, annotations [default: text]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l log-file -r -F -d 'Append to this file what backoff says, instead of printing it on standard error'
complete -c backoff -n 'not __backoff_command >/dev/null' -l label -x -d 'What lines about COMMAND name it, in place of its own name'
complete -c backoff -n 'not __backoff_command >/dev/null' -l report -r -F -d 'Write a summary of the run in JSON to this file, at the end'
complete -c backoff -n 'not __backoff_command >/dev/null' -l color -x -a 'auto always never'
complete -c backoff -n 'not __backoff_command >/dev/null' -l color -x -d 'Colour [default: auto]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l progress -x -a 'auto always never'
complete -c backoff -n 'not __backoff_command >/dev/null' -l progress -x -d 'The countdown to the next attempt, on a terminal [default: auto]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l on-retry -r -F -d 'Run this shell command before each wait'
complete -c backoff -n 'not __backoff_command >/dev/null' -l before-retry -r -F -d 'Run this shell command after each wait; the next attempt is made only if it succeeds'
complete -c backoff -n 'not __backoff_command >/dev/null' -l on-give-up -r -F -d 'Run this shell command when giving up'
complete -c backoff -n 'not __backoff_command >/dev/null' -l hook-output -d 'Give the three commands above the end of the failed attempt\'s output on standard input'
complete -c backoff -n 'not __backoff_command >/dev/null' -l exhausted-exit -x -d 'Status when attempts, time, delay or budget ran out on a transient failure, or --max-retry-after was too short'
complete -c backoff -n 'not __backoff_command >/dev/null' -l flaky-exit -x -d 'Status when the command succeeded after a failure [default: 0]'
complete -c backoff -n 'not __backoff_command >/dev/null' -l c-locale -d 'Set LC_ALL=C.UTF-8 for the command, so that its messages are English'
complete -c backoff -n 'not __backoff_command >/dev/null' -l plan -d 'Print the waits these options give and run nothing'
complete -c backoff -n 'not __backoff_command >/dev/null' -l plot -d 'Draw the waits of --plan, as wide as the terminal'
complete -c backoff -n 'not __backoff_command >/dev/null' -l list-presets -d 'Print the presets of --for'
complete -c backoff -n 'not __backoff_command >/dev/null' -l list-policies -d 'Print the policies: where each comes from and what it sets'
complete -c backoff -n 'not __backoff_command >/dev/null' -l config -r -F -d 'Read this configuration file, or none'
complete -c backoff -n 'not __backoff_command >/dev/null' -l generate -x -a 'man complete-bash complete-zsh complete-fish'
complete -c backoff -n 'not __backoff_command >/dev/null' -l generate -x -d 'Print the man page or a shell\'s completions'
complete -c backoff -n 'not __backoff_command >/dev/null' -s h -d 'Print help'
complete -c backoff -n 'not __backoff_command >/dev/null' -l help -x -a 'time wait judge streams protect say other'
complete -c backoff -n 'not __backoff_command >/dev/null' -l help -x -d 'Print help'
complete -c backoff -n 'not __backoff_command >/dev/null' -s V -d 'Print the version'
complete -c backoff -n 'not __backoff_command >/dev/null' -l version -d 'Print the version'
