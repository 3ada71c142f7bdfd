/**
 * What a shell needs so that it asks us. Each of them calls `signalbox __complete -- <words>`, which answers a line for
 * each candidate: the word, a tab, and what it is about.
 */

export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
export type Shell = (typeof SHELLS)[number];

const BASH = `# bash completion of signalbox
_signalbox() {
  local line words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  while IFS= read -r line; do
    [ -n "$line" ] && COMPREPLY+=("$(printf '%q' "\${line%%$'\\t'*}")")
  done < <(signalbox __complete -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F _signalbox signalbox
`;

const ZSH = `#compdef signalbox
# zsh completion of signalbox
_signalbox() {
  local line value
  local -a values descriptions
  while IFS= read -r line; do
    [[ -z "$line" ]] && continue
    value="\${line%%$'\\t'*}"
    values+=("$value")
    descriptions+=("$value  \${line#*$'\\t'}")
  done < <(signalbox __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  compadd -l -d descriptions -a values
}
compdef _signalbox signalbox
`;

const FISH = `# fish completion of signalbox
function __signalbox_complete
  set -l words (commandline -opc)
  signalbox __complete -- $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c signalbox -f -a '(__signalbox_complete)'
`;

const POWERSHELL = `# PowerShell completion of signalbox
Register-ArgumentCompleter -Native -CommandName signalbox -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '""' }
  signalbox __complete -- @words 2>$null | Where-Object { $_ } | ForEach-Object {
    $value, $about = $_ -split "\`t", 2
    if (-not $about) { $about = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
  }
}
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
  powershell: POWERSHELL,
};
