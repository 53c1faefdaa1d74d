#!/bin/bash
# A small agent: a composer, work, questions, errors. What it does is typed to it; `work` and `ask` last until told.
#
#   work      works until `g` is pressed       ask    asks until `1` or `2` is pressed
#   fail      its turn fails                   exit N ends
#   deaf      shows nothing until `g` is pressed, then works
#
# MINI_WAIT=FILE: it comes up once that file is there. MINI_TRUST=1: it asks first whether the folder is trusted.
stty -echo -icanon min 1
body=(); text=""; above=""
draw() {
    printf '\033[2J\033[H'
    printf '%s\r\n' "mini 1.0" "" "${body[@]}" ""
    [ -n "$above" ] && printf '%s\r\n' "$above" ""
    printf '> %s' "$text"
}
question() {
    printf '\033[2J\033[H\033[?25l'
    printf '%s\r\n' "mini 1.0" "" "$1" "" "❯ 1. Yes" "  2. No" "" "enter to confirm, esc to cancel"
    while IFS= read -rsn1 key; do case "$key" in "" | 1 | 2) break ;; esac; done
    printf '\033[?25h'
}
say() {
    body+=("• $1" "")
    mkdir -p "$HOME/.mini"
    [ -e "$HOME/.mini/$$.jsonl" ] ||
        printf '{"type":"session_meta","payload":{"id":"%s","cwd":"%s"}}\n' "$$" "$PWD" >"$HOME/.mini/$$.jsonl"
    local now="${EPOCHREALTIME//[!0-9]/}"
    printf '{"timestamp":%s,"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s"}]}}\n' "${now%???}" "$1" >>"$HOME/.mini/$$.jsonl"
}
work() {
    above="✻ Working (esc to interrupt)"
    draw
    while IFS= read -rsn1 key; do case "$key" in g | $'\e') break ;; esac; done
    above=""
}
submit() {
    local line="$1"
    body+=("› $line" "")
    text=""
    case "$line" in
    work*) work; say "Done with $line" ;;
    ask*) question "Allow mini to run \`rm\`?"; work; say "Answered $key" ;;
    deaf*) while IFS= read -rsn1 key; do case "$key" in g) break ;; esac; done; work; say "Heard" ;;
    fail*) body+=("✖ the model said no" "") ;;
    exit*) exit "${line#exit }" ;;
    *) say "You said $line" ;;
    esac
}
printf 'Loading\r\n'
if [ -n "$MINI_WAIT" ]; then
    mkfifo "$MINI_WAIT.$$"
    until [ -e "$MINI_WAIT" ]; do read -rt 0.05 <>"$MINI_WAIT.$$"; done
    rm "$MINI_WAIT.$$"
fi
[ -n "$MINI_TRUST" ] && question "Do you trust this folder?"
draw
while IFS= read -rsn1 key; do
    case "$key" in
    "") submit "$text" ;;
    $'\x7f') text="${text%?}" ;;
    *) text+="$key" ;;
    esac
    draw
done
