/**
 * Formats the command tree as a completion script for a shell. The shell then completes without this program, whose
 * start would take almost a second at each Tab. For an argument that allows any value, the shell offers files.
 */
import type { Entry, Node } from './tree.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

const inQuotes = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const lineOf = ({ word, about }: Entry): string => inQuotes(`${word}:${about}`);

/** Formats a branch of `case`, which prints lines for a pattern. */
const branch = (pattern: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`    ${pattern}) printf '%s\\n' ${lines.join(' ')} ;;`];

const cases = (name: string, subject: string, branches: readonly string[]): string =>
  [`${name}() {`, `  case ${subject} in`, ...branches, '  esac', '}'].join('\n');

/** Formats the command tree as shell functions that both bash and zsh understand. */
const tables = (tree: readonly Node[]): string =>
  [
    cases(
      '_svc_commands',
      '"$1"',
      tree.flatMap(({ path, commands }) => branch(inQuotes(path), commands.map(lineOf))),
    ),
    cases(
      '_svc_options',
      '"$1"',
      tree.flatMap(({ path, options }) => branch(inQuotes(path), options.map(lineOf))),
    ),
    cases(
      '_svc_choices',
      '"$1"',
      tree.flatMap(({ path, choices }) => branch(inQuotes(path), choices.map(inQuotes))),
    ),
    '# Whether an option takes a value; prints what it may be.',
    cases('_svc_value', '"$1 $2"', [
      ...tree.flatMap(({ path, valued }) =>
        valued.map(({ words, choices }) => {
          const pattern = words.map((word) => inQuotes(`${path} ${word}`)).join('|');
          const print =
            choices.length === 0 ? ':' : `printf '%s\\n' ${choices.map(inQuotes).join(' ')}`;
          return `    ${pattern}) ${print} ;;`;
        }),
      ),
      '    *) return 1 ;;',
    ]),
    '# The command that words name; those that name none are arguments.',
    `_svc_path() {
  local found= word
  for word in "$@"; do
    case $word in -*|'') continue ;; esac
    if _svc_commands "$found" | grep -q -- "^$word:" 2>/dev/null; then
      found="\${found:+$found }$word"
    fi
  done
  printf '%s' "$found"
}`,
  ].join('\n');

const bash = (tree: readonly Node[]): string => `# svc completion bash
# Source it in ~/.bashrc: source <(svc completion bash)
${tables(tree)}
_svc() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" found path
  path=$(_svc_path "\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  COMPREPLY=()
  if found=$(_svc_value "$path" "$before"); then
    COMPREPLY=($(compgen -W "$found" -- "$current"))
    return
  fi
  case $current in
    -*) found=$(_svc_options "$path" | cut -d: -f1) ;;
    *)
      found=$(_svc_commands "$path" | cut -d: -f1)
      [ -z "$found" ] || compopt +o default 2>/dev/null
      [ -n "$found" ] || found=$(_svc_choices "$path") ;;
  esac
  COMPREPLY=($(compgen -W "$found" -- "$current"))
}
complete -o default -F _svc svc
`;

const zsh = (tree: readonly Node[]): string => `#compdef svc
# Source it in ~/.zshrc after compinit: source <(svc completion zsh)
${tables(tree)}
_svc() {
  local current="\${words[CURRENT]}" before="\${words[CURRENT-1]}" found at
  local -a entries
  at=$(_svc_path "\${(@)words[2,CURRENT-1]}")
  if found=$(_svc_value "$at" "$before"); then
    entries=("\${(@f)found}")
    [[ -n $found ]] && compadd -- $entries || _files
    return
  fi
  if [[ $current == -* ]]; then
    entries=("\${(@f)$(_svc_options "$at")}")
    _describe -o option entries
    return
  fi
  found=$(_svc_commands "$at")
  if [[ -n $found ]]; then
    entries=("\${(@f)found}")
    _describe command entries
    return
  fi
  found=$(_svc_choices "$at")
  if [[ -n $found ]]; then
    compadd -- "\${(@f)found}"
  else
    _files
  fi
}
if [[ $funcstack[1] == _svc ]]; then
  _svc "$@"
else
  compdef _svc svc
fi
`;

const forFish = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const fishOption = (word: string): string =>
  word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`;

const fishLines = ({ path, commands, options, valued, choices }: Node): string[] => {
  const at = `complete -c svc -n ${forFish(`__svc_at ${forFish(path)}`)}`;
  const valueAt = (word: string) => valued.find(({ words }) => words.includes(word));
  return [
    ...commands.map(({ word, about }) => `${at} -f -a ${forFish(word)} -d ${forFish(about)}`),
    ...(choices.length === 0 ? [] : [`${at} -f -a ${forFish(choices.join(' '))}`]),
    ...options.map(({ word, about }) => {
      const value = valueAt(word);
      const given = value === undefined ? '' : ' -r';
      const words = value?.choices.length ? ` -f -a ${forFish(value.choices.join(' '))}` : '';
      return `${at} ${fishOption(word)}${given}${words} -d ${forFish(about)}`;
    }),
  ];
};

const fish = (tree: readonly Node[]): string => `# svc completion fish
# Keep it as ~/.config/fish/completions/svc.fish: svc completion fish > ~/.config/fish/completions/svc.fish
set -g __svc_paths ${tree
  .filter(({ path }) => path !== '')
  .map(({ path }) => forFish(path))
  .join(' ')}
function __svc_at
  set -l at
  for word in (commandline -opc)[2..]
    set -l next (string join ' ' -- $at $word)
    if contains -- $next $__svc_paths
      set at $next
    end
  end
  test "$at" = "$argv[1]"
end
complete -c svc -e
${tree.flatMap(fishLines).join('\n')}
`;

const writers: Readonly<Record<Shell, (tree: readonly Node[]) => string>> = { bash, zsh, fish };

/** Returns the completion script of a shell for a command tree. */
export const completionScript = (shell: Shell, tree: readonly Node[]): string =>
  writers[shell](tree);
