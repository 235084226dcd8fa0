#!/bin/sh
# Installs backoff from a release. Needs a Linux with curl or wget, sha256sum, tar and gzip; busybox has them.
# usage: install.sh [--to DIR] [--version V] [--sha256 SUM] [--base-url URL]
#   --to DIR        directory for the program; by default /usr/local/bin for root, else ~/.local/bin
#   --version V     release to install; by default the one that this script belongs to
#   --sha256 SUM    checksum that the archive must have; by default the one of the release
#   --base-url URL  directory with the archive, for a mirror (https, http or file)
# Ends with 0 if backoff is installed, 1 if not, 2 after a wrong option.
set -eu

# packaging/assets fills these in for a release.
version=
repository=
sum_x86_64=
sum_aarch64=

die() {
    echo "install.sh: $1" >&2
    exit "${2-1}"
}

usage='usage: install.sh [--to DIR] [--version V] [--sha256 SUM] [--base-url URL]'

# Sets to, wanted, sum and base.
read_options() {
    to='' wanted='' sum='' base=''
    while test $# -gt 0; do
        case $1 in
            --*=*) option=${1%%=*} value=${1#*=} ;;
            --to | --version | --sha256 | --base-url)
                test $# -gt 1 || die "$1 needs a value" 2
                option=$1 value=$2
                shift ;;
            -h | --help)
                echo "$usage"
                exit ;;
            *) option=$1 value=none ;;
        esac
        test "$value" || die "$option: the value is empty" 2
        case $option in
            --to) to=$value ;;
            --version) wanted=${value#v} ;;
            --sha256) sum=$(echo "$value" | tr A-F a-f) ;;
            --base-url) base=${value%/} ;;
            *) die "unknown option \"$option\"; $usage" 2 ;;
        esac
        shift
    done
}

# Fills in the options that were not given, and checks all.
complete_options() {
    # In a clone, Cargo.toml has the facts.
    case $version:$0 in
        :*/install.sh)
            about=${0%/*}/about
            if test -x "$about"; then version=$("$about" version) repository=$("$about" repository); fi ;;
    esac
    wanted=${wanted:-$version}
    test "$wanted" || die "which release? give its --version" 2
    # It becomes a part of an address and of a path.
    case $wanted in
        *[!0-9A-Za-z.+-]* | *..*) die "--version: \"$wanted\" is not like 1.2.3" 2 ;;
        [0-9]*.[0-9]*.[0-9]*) ;;
        *) die "--version: \"$wanted\" is not like 1.2.3" 2 ;;
    esac
    base=${base:-${repository:+$repository/releases/download/v$wanted}}
    case $base in
        https://* | file:///*) protocols='=https' ;;
        http://*) protocols='=http,https' ;;
        '') die "from where? give the --base-url of the archive" 2 ;;
        *) die "--base-url: \"$base\" begins with neither https:// nor http:// nor file:///" 2 ;;
    esac
    machine=$(uname -sm)
    case $machine in
        'Linux x86_64') pinned=$sum_x86_64 ;;
        'Linux aarch64') pinned=$sum_aarch64 ;;
        *) die "there is no release for $machine, only for Linux on x86_64 and aarch64" ;;
    esac
    if test -z "$to"; then
        if test "$(id -u)" = 0; then to=/usr/local/bin; else to=${HOME:?}/.local/bin; fi
    fi
}

find_programs() {
    for program in sha256sum tar gzip mktemp; do
        command -v "$program" >/dev/null || die "$program is missing here"
    done
    case $base in
        file:*) client=copy ;;
        *)
            for client in curl wget; do
                if command -v "$client" >/dev/null; then return; fi
            done
            die "neither curl nor wget is here" ;;
    esac
}

# get_with_CLIENT ADDRESS FILE
get_with_copy() { cp -- "${1#file://}" "$2"; }
get_with_curl() { curl -fsSL --proto "$protocols" --retry 3 --connect-timeout 20 -o "$2" -- "$1"; }
# Without -T, of which busybox 1.35 dies; the default is 15 minutes of silence.
get_with_wget() {
    for pause in 1 3; do
        if wget -q -O "$2" -- "$1"; then return; fi
        sleep "$pause"
    done
    wget -q -O "$2" -- "$1"
}

# Downloads a file of the release into $work.
get() { "get_with_$client" "$base/$1" "$work/$1" || die "cannot download $base/$1; nothing is installed"; }

# Downloads the archive, and fails unless it has its checksum. Sets whose: where the checksum comes from.
get_archive() {
    get "$1"
    whose='given with --sha256'
    if test -z "$sum" && test "$wanted" = "$version" && test "$pinned"; then
        sum=$pinned whose='of the release'
    elif test -z "$sum"; then
        get "$1.sha256"
        read -r sum rest <"$work/$1.sha256" || :
        whose="next to the archive, which only detects a broken download"
    fi
    case $sum in *[!0-9a-f]*) sum= ;; esac
    test ${#sum} = 64 || die "no SHA-256 checksum ($whose): it has 64 hexadecimal digits; nothing is installed"
    actual=$(sha256sum "$work/$1")
    test "${actual%% *}" = "$sum" || die "wrong checksum: $1 has ${actual%% *}, not $sum ($whose); nothing is installed"
}

main() {
    read_options "$@"
    complete_options
    find_programs
    work=$(mktemp -d) new=
    trap 'rm -rf "$work" ${new:+"$new"}' EXIT
    trap 'exit 1' HUP INT TERM
    name=backoff-$wanted-${machine#* }-unknown-linux-musl
    get_archive "$name.tar.gz"
    tar -xzf "$work/$name.tar.gz" -C "$work" "$name/backoff" || die "cannot unpack $name.tar.gz; nothing is installed"
    mkdir -p -- "$to" || die "cannot make the directory $to; --to names another one"
    new=$to/.backoff.$$
    { cp -- "$work/$name/backoff" "$new" && chmod 755 "$new"; } || die "cannot write to $to; --to names another directory"
    shown=$("$new" --version) || die "the program does not run here; nothing is installed"
    # In one step: a running backoff keeps its own file.
    mv -f -- "$new" "$to/backoff"
    echo "$shown" | sed 1q
    echo "installed as $to/backoff (checked against the checksum $whose)"
    case :$PATH: in *:"$to":*) ;; *) echo "PATH lacks $to" ;; esac
}

# At the end, so that no part of a script that arrives cut off is run.
main "$@"
