/**
 * Loads only the commands that the command line names. Each group of commands is a module with its imports, and loading
 * all groups would take most of a command's start time. If a word names no group (help, a typo), all are loaded, so
 * that help and suggestions know every command.
 */
import type { Command } from 'commander';
import type { Context } from '../terminal/context.ts';

/** Adds commands below `parent`. `words` are the words of the command line that follow the parent's. */
export type AddCommands = (
  parent: Command,
  context: Context,
  words: readonly string[],
) => void | Promise<void>;

export type CommandGroup = {
  /** Names of the commands that the group adds below its parent. */
  commands: readonly string[];
  load(): Promise<AddCommands>;
};

/** Creates a group of the commands that one module adds. */
export const group = (commands: string, load: () => Promise<AddCommands>): CommandGroup => ({
  commands: commands.split(' '),
  load,
});

/** Adds the group that the first word names. If it names none, adds all groups in their order. */
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
