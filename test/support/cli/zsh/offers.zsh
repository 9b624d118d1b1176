# offers.zsh <line>: types the line and a Tab in a zsh on a terminal of its own, and prints what is offered, one a line.
zmodload zsh/zpty
zpty inside zsh -f -i
zpty -w inside "source ${(q)0:A:h}/inside.zsh"
while zpty -r inside said; do [[ $said == '<<ready>>'* ]] && break; done
zpty -n -w inside "$1"$'\t'
while zpty -r inside said; do
  [[ $said == *'<<>>'* ]] && break
  [[ $said == *'<<'*'>>'* ]] && print -r -- ${${said#*'<<'}%%'>>'*}
done
zpty -d inside
