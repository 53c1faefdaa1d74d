#!/bin/sh
# Installs paned from a release archive: the binary, its man pages and its completions.
#
#   ./install.sh                          from the unpacked archive that this file is in
#   ./install.sh paned-0.1.0-TARGET.tar.gz    from an archive, checked against SHA256SUMS beside it
#   ./install.sh FOLDER                   from an unpacked archive
#   PANED_DOWNLOAD=URL ./install.sh 0.1.0     from URL/paned-0.1.0-TARGET.tar.gz
#   ./install.sh --uninstall              removes what was installed
#
# PREFIX is where it goes, ~/.local unless it is set. Nothing else is changed: no file of your shell, no service.
set -eu

prefix=${PREFIX:-$HOME/.local}
work=

say() { echo "install.sh: $*"; }
fail() {
    echo "install.sh: $*" >&2
    exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

finish() { [ -z "$work" ] || rm -rf "$work"; }
trap finish EXIT
trap 'exit 130' INT TERM

target() {
    case $(uname -s) in
        Linux) system=unknown-linux-gnu ;;
        Darwin) system=apple-darwin ;;
        *) fail "there are no archives for $(uname -s); build paned from its source (docs/install.md)" ;;
    esac
    case $(uname -m) in
        x86_64 | amd64) echo "x86_64-$system" ;;
        aarch64 | arm64) echo "aarch64-$system" ;;
        *) fail "there are no archives for $(uname -m); build paned from its source (docs/install.md)" ;;
    esac
}

# download URL FILE
download() {
    if has curl; then
        curl --fail --location --silent --show-error --output "$2" "$1"
    elif has wget; then
        wget --quiet --output-document "$2" "$1"
    else
        fail "neither curl nor wget is installed; download the archive and name it"
    fi
}

sums() { if has sha256sum; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

# Compares an archive with SHA256SUMS beside it.
check() {
    list=$(dirname "$1")/SHA256SUMS
    if [ ! -f "$list" ]; then
        say "there is no SHA256SUMS beside $1, so it was not checked"
        return
    fi
    expected=$(awk -v name="$(basename "$1")" '$2 == name || $2 == "*" name { print $1 }' "$list")
    [ -n "$expected" ] || fail "SHA256SUMS does not name $(basename "$1")"
    [ "$(sums "$1" | cut -d ' ' -f 1)" = "$expected" ] || fail "$1 is damaged: its checksum is not the one in SHA256SUMS"
}

# Unpacks an archive and prints the folder that is in it.
unpack() {
    tar -xzf "$1" -C "$work" || fail "cannot unpack $1"
    for folder in "$work"/paned-*/; do
        [ ! -x "$folder/bin/paned" ] || found=${folder%/}
    done
    [ -n "${found-}" ] || fail "$1 is not an archive of paned"
}

fetch() {
    [ -n "${PANED_DOWNLOAD-}" ] || fail "no file or folder \`$1\`; to download that version, set PANED_DOWNLOAD to the address of the releases"
    archive=paned-$1-$(target).tar.gz
    download "$PANED_DOWNLOAD/$archive" "$work/$archive" || fail "cannot download $PANED_DOWNLOAD/$archive"
    download "$PANED_DOWNLOAD/SHA256SUMS" "$work/SHA256SUMS" || fail "cannot download $PANED_DOWNLOAD/SHA256SUMS"
    check "$work/$archive"
    unpack "$work/$archive"
}

remove() {
    rm -f "$prefix/bin/paned" "$prefix/share/man/man1/paned.1" "$prefix"/share/man/man1/paned-*.1
    rm -f "$prefix/share/bash-completion/completions/paned" "$prefix/share/zsh/site-functions/_paned"
    rm -f "$prefix/share/fish/vendor_completions.d/paned.fish"
}

# copy FOLDER: the binary last, and renamed over the old one, so that a failure leaves what was there.
copy() {
    "$1/bin/paned" version >/dev/null || fail "the binary in $1 does not run on this machine; build paned from its source"
    mkdir -p "$prefix/bin" "$prefix/share" || fail "cannot write to $prefix; set PREFIX to another folder"
    rm -f "$prefix"/share/man/man1/paned-*.1
    cp -R "$1/share/." "$prefix/share/"
    cp "$1/bin/paned" "$prefix/bin/.paned.new"
    mv -f "$prefix/bin/.paned.new" "$prefix/bin/paned"
}

advise() {
    case :$PATH: in
        *":$prefix/bin:"*) ;;
        *) say "$prefix/bin is not on your PATH; add this to your shell's profile: export PATH=\"$prefix/bin:\$PATH\"" ;;
    esac
    say "\`paned completions install\` sets up your shell, \`paned service install\` starts the server when you log in"
    say "if a server of an older version runs: \`paned server upgrade\`; panes keep running"
}

[ $# -le 1 ] || fail "name one archive, folder or version"
source=${1-$(cd "$(dirname "$0")" && pwd)}
if [ "$source" = --uninstall ]; then
    remove
    say "removed paned from $prefix; its state in ~/.local/state/paned was not touched"
    exit 0
fi
work=$(mktemp -d)
found=
if [ -d "$source" ]; then
    found=$source
    [ -x "$found/bin/paned" ] || fail "there is no bin/paned in $found; name a release archive"
elif [ -f "$source" ]; then
    check "$source"
    unpack "$source"
else
    fetch "$source"
fi
copy "$found"
say "installed $("$prefix/bin/paned" version) in $prefix"
advise
