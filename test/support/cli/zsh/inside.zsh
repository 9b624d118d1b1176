# A zsh with its own completion, in which a Tab says what is offered in place of showing it. `compadd` is where all
# that is offered comes to; with -O, -A or -D it only asks what would be.
PROMPT=
setopt no_beep
stty -echo
autoload -Uz compinit && compinit -u -D
source ./svc.zsh
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a hits
  builtin compadd -A hits "$@"
  for hit in $hits; do print -r -- "<<$hit>>"; done
}
offer() { _main_complete; print '<<>>'; compstate[list]=; compstate[insert]= }
zle -C offer complete-word offer
bindkey '^I' offer
print '<<ready>>'
