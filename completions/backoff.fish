# Prints the words of COMMAND before the cursor. Returns 1 if an option or COMMAND is at the cursor, 2 if it is the text of
# an option, 3 if it is the name of a preset.
function __backoff_words
    set -l words (commandline -opc)
    argparse -s 'n/attempts=' 'd/deadline=' 'stop-after=' 't/timeout=' 'i/idle-timeout=' 's/signal=' 'k/kill-after=' 'nested=' 'until=' 'success-exit=' 'success-match=' 'fail-match=' 'consecutive=' 'e/retry-exit=' 'stop-exit=' 'r/retry-match=' 'stop-match=' 'retry-if=' 'success-if=' 'for=' 'match-on=' 'idempotent=' 'every=' 'b/base=' 'f/factor=' 'm/max-delay=' 'g/growth=' 'delays=' 'j/jitter=' 'stop-at-delay=' 'initial-delay=' 'splay=' 'reset-after=' 'retry-after=?' 'seed=' 'p/policy=' 'stdin=' 'stdin-limit=' 'stdout=' 'stderr=' 'pty' 'on-retry=' 'before-retry=' 'on-give-up=' 'hook-output' 'budget=' 'budget-ratio=' 'budget-min=' 'budget-window=' 'store=' 'store-down=' 'q/quiet' 'v/verbose' 'log-format=' 'log-file=' 'label=' 'report=' 'color=' 'progress=' 'exhausted-exit=' 'flaky-exit=' 'plan' 'list-presets' 'list-policies' 'config=' 'generate=' 'help=' 'V/version' h -- $words[2..] 2>/dev/null
    or return 2
    set -q _flag_list_presets
    and return 3
    test "$words[-1]" = -- -o (count $argv) -gt 0
    or return 1
    string join \n -- $argv
    return 0
end

# Completes COMMAND and its arguments as if backoff were not there.
function __backoff_command
    set -l words (__backoff_words)
    set -l place $status
    set -l cur (commandline -ct)
    if test $place -eq 3
        string split ' ' -- 'ansible-playbook apk apt aws az borg brew bun bundle cargo composer conda corepack cosign curl dnf docker dotnet ffmpeg flatpak flock ftp gcloud gem gh git git-lfs glab go gpg gradle helm hg huggingface-cli kubectl lftp mongosh mvn mysql netlify network nix npm packer pacman pg_dump pg_isready pip playwright pnpm poetry psql pulumi rclone redis-cli restic rosdep rsync rustup s3cmd scp sftp skopeo snap sqlite3 ssh stack svn sysexits terraform twine uv vercel wget wrangler yarn zypper'
    else if test $place -lt 2
        # A word with a dash would be completed with programs that have one in their names.
        test -z "$words"
        and string match -q -- '-*' "$cur"
        or complete -C (string join ' ' -- (string escape -- $words) "$cur")
    end
end

# Prints the names of policies, also of the file that --config names.
function __backoff_policies
    set -l words (commandline -opc)
    argparse -i 'config=' -- $words[2..] 2>/dev/null
    set -l config
    set -q _flag_config
    and set config --config $_flag_config
    backoff $config --list-policies 2>/dev/null | string match -r '^[^ ]+'
end

# Prints each of these words after those that a list has already.
function __backoff_list
    set -l text (commandline -ct | string replace -r -- '^(--[a-z-]+=|-[qvhV]*[ndtiskerbfmgjp])' '')
    set -l before (string match -r -- '.*,' "$text")
    printf '%s\n' "$before"$argv
end

complete -f -c backoff -a '(__backoff_command)'
complete -c backoff -n 'not __backoff_words >/dev/null' -s n -l attempts -d 'Maximum number of attempts' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -s d -l deadline -d 'Time limit for the run, instead of 5 attempts' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l stop-after -d 'Start no new attempt after this time' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -s t -l timeout -d 'Time limit for each attempt' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -s i -l idle-timeout -d 'Limit on time without output' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -s s -l signal -d 'Signal to send on timeout' -r -f -a "HUP\t''
INT\t''
QUIT\t''
ILL\t''
TRAP\t''
ABRT\t''
BUS\t''
FPE\t''
KILL\t''
USR1\t''
SEGV\t''
USR2\t''
PIPE\t''
ALRM\t''
TERM\t''
CHLD\t''
CONT\t''
STOP\t''
TSTP\t''
TTIN\t''
TTOU\t''
URG\t''
XCPU\t''
XFSZ\t''
VTALRM\t''
PROF\t''
WINCH\t''
IO\t''
SYS\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -s k -l kill-after -d 'Send SIGKILL this long after --signal' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l nested -d 'What to do when run by another backoff' -r -f -a "allow\t''
once\t''
warn\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l until -d 'What ends the run' -r -f -a "success\t''
failure\t''
never\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l success-exit -d 'Exit codes that count as success' -r -f -a "(__backoff_list timeout HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS)"
complete -c backoff -n 'not __backoff_words >/dev/null' -l success-match -d 'Succeed only if a line matches (case-sensitive)' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l fail-match -d 'Fail if a line matches, even with status 0' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l consecutive -d 'Number of consecutive successes required' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -s e -l retry-exit -d 'Retry only these exit codes, and timeouts' -r -f -a "(__backoff_list timeout HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS)"
complete -c backoff -n 'not __backoff_words >/dev/null' -l stop-exit -d 'Never retry these exit codes; overrides retry rules' -r -f -a "(__backoff_list timeout HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO SYS)"
complete -c backoff -n 'not __backoff_words >/dev/null' -s r -l retry-match -d 'Retry only if a line matches (case-sensitive)' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l stop-match -d 'Never retry if a line matches (case-sensitive)' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l retry-if -d 'Shell command that decides whether to retry' -r -F
complete -c backoff -n 'not __backoff_words >/dev/null' -l success-if -d 'Shell command that decides whether an attempt succeeded' -r -F
complete -c backoff -n 'not __backoff_words >/dev/null' -l for -d 'Use built-in rules for a tool; auto: by COMMAND' -r -f -a "(__backoff_list auto ansible-playbook apk apt aws az borg brew bun bundle cargo composer conda corepack cosign curl dnf docker dotnet ffmpeg flatpak flock ftp gcloud gem gh git git-lfs glab go gpg gradle helm hg huggingface-cli kubectl lftp mongosh mvn mysql netlify network nix npm packer pacman pg_dump pg_isready pip playwright pnpm poetry psql pulumi rclone redis-cli restic rosdep rsync rustup s3cmd scp sftp skopeo snap sqlite3 ssh stack svn sysexits terraform twine uv vercel wget wrangler yarn zypper)"
complete -c backoff -n 'not __backoff_words >/dev/null' -l match-on -d 'Output streams that rules read' -r -f -a "stdout\t''
stderr\t''
both\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l idempotent -d 'Whether COMMAND is safe to run twice' -r -f -a "yes\t''
no\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l every -d 'Fixed wait between attempts' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -s b -l base -d 'Base delay; waits grow from it' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -s f -l factor -d 'Growth factor, at least 1' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -s m -l max-delay -d 'Maximum wait, including jitter' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -s g -l growth -d 'How waits grow, before jitter' -r -f -a "exponential\t''
linear\t''
fibonacci\t''
constant\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l delays -d 'Explicit list of waits; the last one repeats' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -s j -l jitter -d 'How waits are randomized' -r -f -a "none\t''
full\t''
equal\t''
decorrelated\t''
additive\t''
proportional\t''
slotted\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l stop-at-delay -d 'Give up once the next wait would reach this' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l initial-delay -d 'Wait before the first attempt' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l splay -d 'Maximum random wait before the first attempt' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l reset-after -d 'Reset waits and attempts after an attempt that ran this long' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l seed -d 'Seed for reproducible waits (same build only)' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -s p -l policy -d 'Named set of options; explicit options override it' -r -f -a "(__backoff_policies)"
complete -c backoff -n 'not __backoff_words >/dev/null' -l stdin -d 'How each attempt gets standard input' -r -f -a "auto\t''
inherit\t''
replay\t''
null\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l stdin-limit -d 'Maximum amount of input to keep for replay' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l stdout -d 'What to do with standard output' -r -f -a "stream\t''
final\t''
success\t''
failure\t''
null\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l stderr -d 'What to do with standard error' -r -f -a "stream\t''
final\t''
failure\t''
null\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l on-retry -d 'Shell command to run before each wait' -r -F
complete -c backoff -n 'not __backoff_words >/dev/null' -l before-retry -d 'Shell command that must succeed before each retry' -r -F
complete -c backoff -n 'not __backoff_words >/dev/null' -l on-give-up -d 'Shell command to run when the run has failed' -r -F
complete -c backoff -n 'not __backoff_words >/dev/null' -l budget -d 'Share a limit on retries with all runs that use NAME' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l budget-ratio -d 'Maximum share of retries among attempts' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l budget-min -d 'Attempts below which any retry is allowed' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l budget-window -d 'How long an attempt counts, on average' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l store -d 'Where budgets are kept: a directory or a Redis address' -r -F
complete -c backoff -n 'not __backoff_words >/dev/null' -l store-down -d 'What to do if the store does not answer' -r -f -a "local\t''
deny\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l log-format -d 'Format of messages' -r -f -a "text\t''
json\t''
github\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l log-file -d 'Append messages to this file, not to standard error' -r -F
complete -c backoff -n 'not __backoff_words >/dev/null' -l label -d 'Name of COMMAND in messages' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l report -d 'Write a JSON summary of the run to this file' -r -F
complete -c backoff -n 'not __backoff_words >/dev/null' -l color -d 'When to use color' -r -f -a "auto\t''
always\t''
never\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l progress -d 'When to show a countdown during waits' -r -f -a "auto\t''
always\t''
never\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l exhausted-exit -d 'Exit status if retries run out' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l flaky-exit -d 'Exit status if the run succeeded only after a retry' -r -f
complete -c backoff -n 'not __backoff_words >/dev/null' -l config -d 'Config file, or none' -r -F
complete -c backoff -n 'not __backoff_words >/dev/null' -l generate -d 'Print the man page or completions for a shell' -r -f -a "man\t''
complete-bash\t''
complete-zsh\t''
complete-fish\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l help -d 'Print all options, a section, one option, or examples' -r -f -a "time\t''
rules\t''
waits\t''
streams\t''
hooks\t''
budgets\t''
output\t''
other\t''
examples\t''"
complete -c backoff -n 'not __backoff_words >/dev/null' -l retry-after -d 'Honor Retry-After in the output, up to MAX'
complete -c backoff -n 'not __backoff_words >/dev/null' -l pty -d 'Give COMMAND a terminal for output, to keep colors'
complete -c backoff -n 'not __backoff_words >/dev/null' -l hook-output -d 'Give hooks the last output of the failed attempt'
complete -c backoff -n 'not __backoff_words >/dev/null' -s q -l quiet -d 'Print only the final message of a failed run'
complete -c backoff -n 'not __backoff_words >/dev/null' -s v -l verbose -d 'Print more; -vv: all settings and rules'
complete -c backoff -n 'not __backoff_words >/dev/null' -l plan -d 'Print the waits and run nothing'
complete -c backoff -n 'not __backoff_words >/dev/null' -l list-presets -d 'List the presets of --for, or the rules of each NAME'
complete -c backoff -n 'not __backoff_words >/dev/null' -l list-policies -d 'List policies with their origin and settings'
complete -c backoff -n 'not __backoff_words >/dev/null' -s h -d 'Print a summary'
complete -c backoff -n 'not __backoff_words >/dev/null' -s V -l version -d 'Print version, C library and features'
