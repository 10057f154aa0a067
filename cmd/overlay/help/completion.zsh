#compdef overlay
_overlay() {
  if [[ $CURRENT == 2 || $words[CURRENT] == -* ]]; then
    compadd -- ${(f)"$(${words[1,CURRENT]} --generate-bash-completion 2>/dev/null)"}
  else
    _files
  fi
}
compdef _overlay overlay
