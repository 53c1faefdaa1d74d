# Completion of paned for fish.
function __paned_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    set -l answer (command paned complete fish (count $before) $before $word 2>/dev/null)
    or return
    switch $answer[1]
        case values
            test (count $answer) -gt 1; and printf '%s\n' $answer[2..-1]
        case files
            set -l flag (string match -r -- '^--[^=]*=' $word)
            for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' $word))
                printf '%s\n' "$flag$path"
            end
        case folders
            set -l flag (string match -r -- '^--[^=]*=' $word)
            for path in (__fish_complete_directories (string replace -r -- '^--[^=]*=' '' $word))
                printf '%s\n' "$flag$path"
            end
        case 'command *'
            # The words of a program that paned is to run are completed as that program's own.
            set -l offset (math (string replace 'command ' '' -- $answer[1]) + 1)
            set -l program $before[$offset..-1]
            complete -C (string join ' ' -- (string escape -- $program) $word)
    end
end

complete -c paned -f -a '(__paned_complete)'
