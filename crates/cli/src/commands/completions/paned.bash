# Completion of paned for bash 3.2 and newer.
_paned() {
    local answer kind line
    COMPREPLY=()
    answer=$(command paned complete bash "$COMP_POINT" "$COMP_WORDBREAKS" "$COMP_LINE" 2>/dev/null) || return 0
    kind=${answer%%$'\n'*}
    case $kind in
        values)
            while IFS= read -r line; do
                [ "$line" = values ] || COMPREPLY+=("$line")
            done <<<"$answer"
            ;;
        files) _paned_paths -f default ;;
        folders) _paned_paths -d dirnames ;;
        command*) _paned_program "${kind#command }" ;;
    esac
}

# Paths are left to readline, which knows `~` and quotes; the bash of macOS cannot be told so.
_paned_paths() {
    if ! compopt -o "$2" 2>/dev/null; then
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$1" -- "${COMP_WORDS[COMP_CWORD]}")
    fi
}

# The words of a program that paned is to run are completed as that program's own.
_paned_program() {
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif [ "$COMP_CWORD" -le "$1" ]; then
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
    else
        _paned_paths -f default
    fi
}

complete -F _paned paned
