complete -c backoff -s n -l attempts -d 'Attempts in all, the first included [default: 5; unlimited with --deadline or --until never]' -r
complete -c backoff -s d -l deadline -d 'Bound on the whole run' -r
complete -c backoff -s t -l timeout -d 'Bound on one attempt; of a list the last entry repeats' -r
complete -c backoff -s i -l idle-timeout -d 'Bound on silence: an attempt that prints nothing for so long is ended' -r
complete -c backoff -s s -l signal -d 'What these bounds send first [default: TERM]' -r
complete -c backoff -s k -l kill-after -d 'Time from that signal to KILL; 0 is never [default: 5s]' -r
complete -c backoff -l every -d 'A fixed wait: constant growth, no jitter' -r
complete -c backoff -s b -l base -d 'The first wait\'s scale [default: 500ms; 0 with --until failure]' -r
complete -c backoff -s f -l factor -d 'Growth per retry, at least 1 [default: 2; 3 with decorrelated jitter]' -r
complete -c backoff -s m -l max-delay -d 'The cap: no wait is ever longer, jitter included [default: 30s]' -r
complete -c backoff -l delays -d 'An explicit list of waits instead of growth; its last entry repeats' -r
complete -c backoff -l spread -d 'The width of additive (a duration) or proportional (a percentage) jitter [default: 1s; 25%]' -r
complete -c backoff -l slot-ceiling -d 'Where the exponent of slotted jitter stops growing, 1 to 62 [default: 10]' -r
complete -c backoff -l stop-at-delay -d 'Give up once the next un-jittered wait would reach this' -r
complete -c backoff -l initial-delay -d 'Wait before the first attempt [default: 0]' -r
complete -c backoff -l splay -d 'A further uniform random wait in [0, DURATION] before the first attempt [default: 0]' -r
complete -c backoff -l reset-after -d 'An attempt that ran at least this long before it failed starts the growth and the attempt count again' -r
complete -c backoff -l seed -d 'Reproducible waits: same build, same seed, same waits' -r
complete -c backoff -l success-exit -d 'Exit codes that are not a failure; may be repeated [default: 0]' -r
complete -c backoff -l success-match -d 'Success takes a line of output that matches; may be repeated' -r
complete -c backoff -l fail-match -d 'A line of output that matches is a failure, whatever the exit code; may be repeated' -r
complete -c backoff -l consecutive -d 'Success means N successful attempts in a row, --base apart [default: 1]' -r
complete -c backoff -s e -l retry-exit -d 'Exit codes of transient failures; all others are then permanent; may be repeated' -r
complete -c backoff -l stop-exit -d 'Exit codes of permanent failures; wins over every retry rule; may be repeated' -r
complete -c backoff -s r -l retry-match -d 'A failure whose output has a matching line is transient; may be repeated' -r
complete -c backoff -l stop-match -d 'A failure whose output has a matching line is permanent; may be repeated' -r
complete -c backoff -l retry-signal -d 'Dying of one of these signals is a transient failure; others are then permanent' -r
complete -c backoff -l stop-signal -d 'Dying of one of these signals is a permanent failure' -r
complete -c backoff -l retry-if -d 'Ask this shell command whether a failure is transient: exit 0 is yes, 1 is no' -r
complete -c backoff -l success-if -d 'Ask this shell command whether a success is one: exit 0 is yes, 1 is no' -r
complete -c backoff -l for -d 'Rules known for a tool: curl, ssh, apt-get, ...; auto goes by COMMAND\'s name' -r
complete -c backoff -l max-retry-after -d 'The longest wait to be granted so; past it, give up [default: 5m]' -r
complete -c backoff -l stdin-limit -d 'The most that is kept for replay [default: 1GiB]' -r
complete -c backoff -l budget -d 'Retries of all runs that share NAME may be at most a fraction of their attempts' -r
complete -c backoff -l budget-ratio -d 'That fraction [default: 10%]' -r
complete -c backoff -l budget-min -d 'Attempts in the window below which every retry is allowed [default: 10]' -r
complete -c backoff -l budget-window -d 'How long an attempt counts [default: 10m]' -r
complete -c backoff -l skipped-exit -d 'Status of a run that --cool-off=skip ends [default: 75]' -r
complete -c backoff -l store -d 'Where budgets are kept: a directory, or redis://, rediss://, redis+unix:// for a fleet' -r
complete -c backoff -l store-timeout -d 'How long the store may hold up the run [default: 250ms]' -r
complete -c backoff -l log-file -d 'Append to this file what backoff says, instead of printing it on standard error' -r
complete -c backoff -l label -d 'What lines about COMMAND name it, in place of its own name' -r
complete -c backoff -l report -d 'Write a summary of the run in JSON to this file, at the end' -r
complete -c backoff -l on-retry -d 'Run this shell command before each wait' -r
complete -c backoff -l before-retry -d 'Run this shell command after each wait; the next attempt is made only if it succeeds' -r
complete -c backoff -l on-give-up -d 'Run this shell command when giving up' -r
complete -c backoff -l exhausted-exit -d 'Status when attempts, deadline, delay or budget ran out on a transient failure' -r
complete -c backoff -l flaky-exit -d 'Status when the command succeeded, but not at the first attempt [default: 0]' -r
complete -c backoff -l config -d 'Read this configuration file' -r
complete -c backoff -s g -l growth -d 'How the un-jittered wait grows [default: exponential; constant with --until failure]' -r -f -a "exponential\t''
linear\t''
fibonacci\t''
constant\t''"
complete -c backoff -s j -l jitter -d 'The randomness [default: decorrelated; full with --growth or --delays; none with --until failure]' -r -f -a "none\t''
full\t''
equal\t''
decorrelated\t''
additive\t''
proportional\t''
slotted\t''"
complete -c backoff -s p -l policy -d 'A named set of options; those given explicitly win' -r -f -a "sip\t''
google\t''
ethernet\t''
aws\t''
clojure\t''
cron\t''"
complete -c backoff -l until -d 'What to go on until: a success, a failure, or neither [default: success]' -r -f -a "success\t''
failure\t''
never\t''"
complete -c backoff -l match-on -d 'What the regexes, --retry-if, --success-if, --retry-after and --hook-output look at [default: both]' -r -f -a "stdout\t''
stderr\t''
both\t''"
complete -c backoff -l stdin -d 'What each attempt gets as standard input [default: auto]' -r -f -a "auto\t''
inherit\t''
replay\t''
null\t''"
complete -c backoff -l stdout -d 'stream it, print only the last attempt\'s, only that of a success, only that of a failed run, or drop it [default: stream]' -r -f -a "stream\t''
final\t''
success\t''
failure\t''
null\t''"
complete -c backoff -l stderr -d 'stream it, print only the last attempt\'s, only that of a failed run, or drop it [default: stream]' -r -f -a "stream\t''
final\t''
failure\t''
null\t''"
complete -c backoff -l idempotent -d 'Whether COMMAND is idempotent: whether it may be carried out twice [default: yes]' -r -f -a "yes\t''
no\t''"
complete -c backoff -l nested -d 'What to do under an outer backoff: retry, run once, or retry and say so [default: warn]' -r -f -a "allow\t''
once\t''
warn\t''"
complete -c backoff -l log-format -d 'The form of what backoff says: lines for people, JSON lines, annotations [default: text]' -r -f -a "text\t''
json\t''
github\t''
github-groups\t''"
complete -c backoff -l color -d 'Colour [default: auto]' -r -f -a "auto\t''
always\t''
never\t''"
complete -c backoff -l progress -d 'The countdown to the next attempt, on a terminal [default: auto]' -r -f -a "auto\t''
always\t''
never\t''"
complete -c backoff -l generate -d 'Print the man page or a shell\'s completions' -r -f -a "man\t''
complete-bash\t''
complete-zsh\t''
complete-fish\t''"
complete -c backoff -l stop-on-timeout -d 'A time-out is a permanent failure'
complete -c backoff -l retry-after -d 'Where the output names a wait (Retry-After: 30, try again in 5s), wait at least that long'
complete -c backoff -l pty -d 'Run each attempt on a pseudo-terminal, so that colours survive while output is looked at'
complete -c backoff -s q -l quiet -d 'Say nothing but backoff\'s own errors'
complete -c backoff -s v -l verbose -d 'Also say starts and successes; twice: also arguments and streams'
complete -c backoff -l c-locale -d 'Set LC_ALL=C.UTF-8 for the command, so that its messages are English'
complete -c backoff -l plan -d 'Print the waits these options give and run nothing'
complete -c backoff -l plot -d 'Draw the waits of --plan, as wide as the terminal'
complete -c backoff -l list-presets -d 'Print the presets of --for'
complete -c backoff -l list-policies -d 'Print the policies: where each comes from and what it sets'
complete -c backoff -l no-config -d 'Read no configuration file'
complete -c backoff -s h -l help -d 'Print help (-h: a summary)'
complete -c backoff -s V -l version -d 'Print the version'
complete -c backoff -l cool-off -d 'Wait before the first attempt if the last run of this budget gave up on a transient failure'
complete -c backoff -l hook-output -d 'Give the three commands above the end of the failed attempt\'s output on standard input'
complete -c backoff -x -a '(__fish_complete_subcommand -- -n --attempts -d --deadline -t --timeout -i --idle-timeout -s --signal -k --kill-after --every -b --base -f --factor -m --max-delay -g --growth --delays -j --jitter --spread --slot-ceiling --stop-at-delay --initial-delay --splay --reset-after --seed -p --policy --until --success-exit --success-match --fail-match --consecutive -e --retry-exit --stop-exit -r --retry-match --stop-match --retry-signal --stop-signal --retry-if --success-if --for --match-on --max-retry-after --stdin --stdin-limit --stdout --stderr --idempotent --budget --budget-ratio --budget-min --budget-window --skipped-exit --store --store-timeout --nested --log-format --log-file --label --report --color --progress --on-retry --before-retry --on-give-up --exhausted-exit --flaky-exit --config --generate)'
