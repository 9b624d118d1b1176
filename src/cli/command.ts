/**
 * What all commands have in common: an example in their help, the options that every command
 * speaking to a service takes, and parsers of option values (a refused one is a usage error).
 */
import { type Command, InvalidArgumentError } from 'commander';
import type { Client } from '#wire/client.ts';
import { connect, showingWaits } from './connect.ts';
import type { Context } from './context.ts';
import { formatJson } from './print.ts';

export type CommandText = {
  /** Name and arguments as commander reads them, for example `show <session>`. */
  usage: string;
  summary: string;
  /** Without the `$`; several lines for several examples. */
  example: string;
};

/** Adds a command below another. Settings of the parent (exit, output) hold for it too. */
export const addCommand = (parent: Command, { usage, summary, example }: CommandText): Command => {
  const lines = example.split('\n').map((line) => `  $ ${line}`);
  const title = lines.length === 1 ? 'Example' : 'Examples';
  return parent
    .command(usage)
    .description(summary)
    .addHelpText('after', `\n${title}:\n${lines.join('\n')}`);
};

export type ServiceOptions = { data?: string; json?: boolean };

/** Adds `--json` and `--data`. */
export const withService = (command: Command): Command =>
  command
    .option('--json', "print the API's answer as JSON")
    .option('--data <folder>', 'use the service that "svc up" runs on this data folder');

/** The client that a command's options and the environment name. */
export const clientFor = (context: Context, { data }: ServiceOptions): Client =>
  showingWaits(connect({ env: context.env, cwd: context.cwd, data }), context.err);

/** Prints an answer: as JSON when asked for, else as the text. */
export const printAnswer = (
  context: Context,
  { json }: ServiceOptions,
  answer: unknown,
  text: () => string,
): void => {
  context.out.write(json === true ? formatJson(answer) : `${text()}\n`);
};

/** Parser of a number option within a range. */
export const parseNumber =
  ({ min, max, whole = false }: { min: number; max: number; whole?: boolean }) =>
  (text: string): number => {
    const value = Number(text);
    const fits = text.trim() !== '' && value >= min && value <= max;
    if (fits && (!whole || Number.isInteger(value))) return value;
    throw new InvalidArgumentError(
      `It is not a ${whole ? 'whole ' : ''}number from ${min} to ${max}.`,
    );
  };

/** Parser of an option that may be given several times. */
export const collect = (value: string, before: string[] = []): string[] => [...before, value];
