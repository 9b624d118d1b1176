/** The tree of commands as completion needs it: what may follow each command, and which options take which values. */
import type { Command, Option } from 'commander';

/** A word that may follow, and what it is. */
export type Entry = { word: string; about: string };

/** An option with a value: its words, and what the value may be; empty: anything. */
export type ValueOption = { words: readonly string[]; choices: readonly string[] };

export type Node = {
  /** The words of the command after the program's name, with blanks between; empty: the program. */
  path: string;
  commands: readonly Entry[];
  options: readonly Entry[];
  valued: readonly ValueOption[];
  /** What an argument may be, where it is one of some words. */
  choices: readonly string[];
};

const wordsOf = ({ long, short }: Option): string[] =>
  [long, short].filter((word): word is string => typeof word === 'string');

const firstLine = (text: string): string => text.split('\n')[0] ?? '';

/** Every command of a program, each before those below it. */
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
