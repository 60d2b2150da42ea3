#include "harness/completion.h"

#include "core/parse.h"

namespace sonde {
namespace {

/// A colon is part of a device's name. One word an answer, its help cut off.
constexpr const char* kBash = R"(COMP_WORDBREAKS=${COMP_WORDBREAKS//:}
_sonde() {
  local line ask=--complete-words
  [[ ${COMP_WORDS[0]##*/} == sonde ]] && ask=complete-words
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("${line%%$'\t'*}")
  done < <("${COMP_WORDS[0]}" "$ask" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _sonde)";

constexpr const char* kZsh = R"(
_sonde() {
  local line ask=--complete-words
  local -a offered
  [[ ${words[1]:t} == sonde ]] && ask=complete-words
  for line in "${(@f)$("${words[1]}" $ask "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && offered+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  if (( $#offered )); then
    _describe sonde offered
  else
    _files
  fi
}
if [[ $funcstack[1] == _sonde ]]; then
  _sonde "$@"
else
  compdef _sonde)";

constexpr const char* kFish = R"(function __sonde_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l ask --complete-words
  test (path basename $words[1]) = sonde; and set ask complete-words
  $words[1] $ask $words[2..-1] 2>/dev/null
end
)";

}  // namespace

std::vector<std::string> completion_shells() { return {"bash", "zsh", "fish"}; }

std::string completion_script(const std::string& shell, const std::vector<std::string>& programs) {
  const std::string known = parse_names(shell, "shell", completion_shells()).front();
  std::string names;
  for (const std::string& program : programs) names += " " + program;
  if (known == "bash") return kBash + names + "\n";
  if (known == "zsh") return "#compdef" + names + kZsh + names + "\nfi\n";
  std::string script = kFish;
  for (const std::string& program : programs) {
    script += "complete -c " + program + " -a '(__sonde_complete)'\n";
  }
  return script;
}

}  // namespace sonde
