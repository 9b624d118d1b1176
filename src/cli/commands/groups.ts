/**
 * Commands that are loaded by the words of a command line: each group is a module with all that it imports, and most
 * of what a command waits for is the loading of the others. Where a word names no group (help, a typo), all are loaded,
 * so that help and advice know every command.
 */
import type { Command } from 'commander';
import type { Context } from '../terminal/context.ts';

/** Adds commands below `parent`; `words` are those of the command line after the one that led here. */
export type AddCommands = (
  parent: Command,
  context: Context,
  words: readonly string[],
) => void | Promise<void>;

export type CommandGroup = {
  /** Those that it adds below its parent. */
  commands: readonly string[];
  load(): Promise<AddCommands>;
};

/** A group of one command, or of several that one module has. */
export const group = (commands: string, load: () => Promise<AddCommands>): CommandGroup => ({
  commands: commands.split(' '),
  load,
});

/** Adds the group that the first word names, or all of them in their order. */
export const addGroups = async (
  parent: Command,
  context: Context,
  groups: readonly CommandGroup[],
  words: readonly string[],
): Promise<void> => {
  const [first = '', ...rest] = words;
  const called = groups.filter(({ commands }) => commands.includes(first));
  const wanted = called.length === 0 ? groups : called;
  const loaded = await Promise.all(wanted.map(({ load }) => load()));
  for (const add of loaded) await add(parent, context, rest);
};
