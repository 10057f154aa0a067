_overlay() {
  local words=()
  if [[ $COMP_CWORD == 1 || ${COMP_WORDS[COMP_CWORD]} == -* ]]; then
    words=$("${COMP_WORDS[@]:0:COMP_CWORD+1}" --generate-bash-completion 2>/dev/null)
  fi
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _overlay overlay
