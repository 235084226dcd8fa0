#!/bin/sh
# Installs backoff from a release. Needs Linux with curl or wget, sha256sum, tar and gzip, all of which busybox has.
# usage: install.sh [--to DIR] [--version V] [--sha256 SUM] [--base-url URL]
#   --to DIR        directory for the program; by default /usr/local/bin for root, else ~/.local/bin
#   --version V     release to install; by default the one that this script belongs to
#   --sha256 SUM    checksum that the archive must have; by default the one next to it
#   --base-url URL  directory with the archive, for a mirror (https, http or file)
# Exits with 0 if backoff is installed, 1 if not, and 2 after a wrong option.
set -eu

# packaging/build fills these in.
version=
repository=

die() {
    echo "install.sh: $1" >&2
    exit "${2-1}"
}

# Downloads a file of the release into $work.
get() {
    case $base in
        file://*) cp -- "${base#file://}/$1" "$work/$1" ;;
        *) if command -v curl >/dev/null; then
            curl -fsSL --proto-redir =https --retry 3 -o "$work/$1" -- "$base/$1"
        else
            wget -q -O "$work/$1" -- "$base/$1"
        fi ;;
    esac || die "cannot download $base/$1; nothing is installed"
}

main() {
    to='' sum='' base=''
    while test $# -gt 0; do
        test $# -gt 1 || die "$1 needs a value, or is no option" 2
        case $1 in
            --to) to=$2 ;;
            --version) version=${2#v} ;;
            --sha256) sum=$2 ;;
            --base-url) base=$2 ;;
            *) die "unknown option \"$1\"" 2 ;;
        esac
        shift 2
    done
    case $version in '' | *[!0-9A-Za-z.+-]*) die "which release? give a --version such as 1.2.3" 2 ;; esac
    base=${base:-${repository:?is not known, so --base-url is needed}/releases/download/v$version}
    if test -z "$to"; then
        if test "$(id -u)" = 0; then to=/usr/local/bin; else to=${HOME:?}/.local/bin; fi
    fi
    machine=$(uname -sm)
    case $machine in
        'Linux x86_64' | 'Linux aarch64') ;;
        *) die "there is no release for $machine, only for Linux on x86_64 and aarch64" ;;
    esac

    work=$(mktemp -d) new=$to/.backoff.$$
    trap 'rm -rf "$work" "$new"' EXIT
    trap 'exit 1' HUP INT TERM
    name=backoff-$version-${machine#* }-unknown-linux-musl
    get "$name.tar.gz"
    if test -z "$sum"; then
        get "$name.tar.gz.sha256"
        read -r sum _ <"$work/$name.tar.gz.sha256" || :
    fi
    actual=$(sha256sum <"$work/$name.tar.gz")
    test "${actual%% *}" = "$sum" || die "wrong checksum: $name.tar.gz has ${actual%% *}, not $sum; nothing is installed"
    tar -xzf "$work/$name.tar.gz" -C "$work" "$name/backoff"
    mkdir -p -- "$to"
    cp -- "$work/$name/backoff" "$new"
    "$new" --version || die "the program does not run here; nothing is installed"
    # In one step, so a running backoff keeps its own file.
    mv -f -- "$new" "$to/backoff"
    echo "installed as $to/backoff"
}

# At the end, so a truncated script runs nothing.
main "$@"
