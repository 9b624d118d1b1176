/** Builds the command tree for completion: the words that may follow each command, and the options that take values. */
import type { Command, Option } from 'commander';

/** Word that may follow the command, and its description. */
export type Entry = { word: string; about: string };

/** Option with a value: its spellings, and the allowed values. If the list is empty, any value is allowed. */
export type ValueOption = { words: readonly string[]; choices: readonly string[] };

export type Node = {
  /** Words of the command after the program's name, separated by spaces; empty for the program itself. */
  path: string;
  commands: readonly Entry[];
  options: readonly Entry[];
  valued: readonly ValueOption[];
  /** Allowed values of an argument; empty if any value is allowed. */
  choices: readonly string[];
};

const wordsOf = ({ long, short }: Option): string[] =>
  [long, short].filter((word): word is string => typeof word === 'string');

const firstLine = (text: string): string => text.split('\n')[0] ?? '';

/** Returns every command of a program; each command precedes its subcommands. */
export const readTree = (command: Command, above: readonly string[] = []): Node[] => {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const options = help.visibleOptions(command);
  const node: Node = {
    path: above.join(' '),
    commands: commands.map((each) => ({ word: each.name(), about: firstLine(each.description()) })),
    options: options.flatMap((option) =>
      wordsOf(option).map((word) => ({ word, about: firstLine(option.description) })),
    ),
    valued: options
      .filter(({ required, optional }) => required || optional)
      .map((option) => ({ words: wordsOf(option), choices: option.argChoices ?? [] })),
    choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  };
  return [node, ...commands.flatMap((each) => readTree(each, [...above, each.name()]))];
};
