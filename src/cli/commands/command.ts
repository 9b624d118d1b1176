/**
 * Code that all commands share: examples in their help, the options of commands that use the service, parsers of option
 * values, and filters of requests. A value that a parser rejects is a usage error.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ledgerOrigins } from '#domain/ledger.ts';
import type { Client } from '#wire/client.ts';
import { namesFolder } from '../files/input.ts';
import { connect, showingWaits } from '../service/client.ts';
import type { RequestFilter } from '../service/requests.ts';
import { type Context, type View, viewOf } from '../terminal/context.ts';
import { formatJson } from '../terminal/print.ts';
import { exitStatus, usageError } from '../views/report.ts';

export type CommandText = {
  /** Name and arguments in commander's notation, for example `show <session>`. */
  usage: string;
  summary: string;
  /** Example without the `$`. If it has several lines, each is an example. */
  example: string;
  /**
   * True if the exit status of the command is its result. Until there is a result, the exit status is that of a
   * failure.
   */
  decides?: true;
};

const deciding = new WeakSet<Command>();

/** Returns true for a command whose exit status is its result. */
export const decides = (command: Command): boolean => deciding.has(command);

/**
 * Adds a command below a parent. Its example is also printed after a usage error. Settings of the parent (exit,
 * output) apply to it as well.
 */
export const addCommand = (parent: Command, text: CommandText): Command => {
  const lines = text.example.split('\n').map((line) => `  $ ${line}`);
  const title = lines.length === 1 ? 'Example' : 'Examples';
  const command = parent
    .command(text.usage)
    .description(text.summary)
    .addHelpText('after', `\n${title}:\n${lines.join('\n')}`)
    .showHelpAfterError(
      `for example: ${lines[0]?.trim().slice(2)}\n(add --help for the full help)`,
    );
  if (text.decides === true) deciding.add(command);
  return command;
};

/** Sets the exit status to the result of the command, if it is a command whose exit status is its result. */
export const setVerdict = (context: Context, isGood: boolean): void =>
  context.setExitStatus(isGood ? exitStatus.done : exitStatus.failed);

type VersionOption = {
  about: string;
  /** Former name of the option. It still works, but help does not show it. */
  formerly?: string;
  parse?: (text: string) => unknown;
};

/** Adds `--version`, under the name that the API uses for the version of an object. */
export const addVersion = (
  command: Command,
  { about, formerly, parse = String }: VersionOption,
): Command => {
  command.option('--version <version>', about, parse);
  if (formerly === undefined) return command;
  const option = new Option(`--${formerly} <version>`).argParser(parse).hideHelp();
  command.addOption(option);
  return command.on(`option:${formerly}`, () =>
    command.setOptionValue('version', command.getOptionValue(option.attributeName())),
  );
};

/** Adds `--version` to a command that takes the address of a world. */
export const addWorldVersion = (command: Command): Command =>
  addVersion(command, { about: 'a version or label of the world, as in <world>@<version>' });

/** Returns the address of a world with the version from the option. */
export const addressWith = (world: string, version: string | undefined): string => {
  if (version === undefined) return world;
  if (namesFolder(world)) throw usageError('a folder has no versions: leave out --version');
  if (world.includes('@')) throw usageError('name the version only once: with @ or with --version');
  return `${world}@${version}`;
};

export type ServiceOptions = { data?: string; json?: boolean };

const serviceText = 'use the service that "svc up" runs on this data folder';

/** Adds `--json` and `--data`. */
export const withService = (command: Command): Command =>
  withData(command.option('--json', "print the API's answer as JSON"));

/** Adds only `--data`. */
export const withData = (command: Command): Command =>
  command.option('--data <folder>', serviceText);

/** Options of commands in which `--data` means rows. There, `--service` names the data folder. */
export type RowOptions = { service?: string; json?: boolean };

/** Adds `--json` and `--service` to a command in which `--data` means rows. */
export const withServiceBeside = (command: Command): Command =>
  command
    .option('--json', "print the API's answer as JSON")
    .option('--service <folder>', serviceText);

/** Converts the options `--service` and `--json` into the options that all other commands have. */
export const serviceOf = ({ service, json }: RowOptions): ServiceOptions => ({
  ...(service === undefined ? {} : { data: service }),
  ...(json === undefined ? {} : { json }),
});

/** Creates the client from a command's options and the environment. */
export const clientFor = (context: Context, { data }: ServiceOptions): Client =>
  showingWaits(connect({ env: context.env, cwd: context.cwd, data }), context.err);

/** Prints an answer: as JSON with `--json`, otherwise as text, formatted for the output. */
export const printAnswer = (
  context: Context,
  { json }: ServiceOptions,
  answer: unknown,
  text: (view: View) => string,
): void => {
  if (json === true) context.out.writeExactly(formatJson(answer));
  else context.out.write(`${text(viewOf(context))}\n`);
};

/** Prints one of several successive answers: as one line of JSON with `--json`, otherwise as text. */
export const printLine = (
  context: Context,
  { json }: ServiceOptions,
  answer: unknown,
  text: () => string,
): void => {
  if (json === true) context.out.writeExactly(`${JSON.stringify(answer)}\n`);
  else context.out.write(`${text()}\n`);
};

/** Returns a parser for an option whose value is a number within a range. */
export const parseNumber =
  ({ min, max, whole = false }: { min: number; max: number; whole?: boolean }) =>
  (text: string): number => {
    const value = Number(text);
    const fits = text.trim() !== '' && value >= min && value <= max;
    if (fits && (!whole || Number.isInteger(value))) return value;
    throw new InvalidArgumentError(
      `The value is not a ${whole ? 'whole ' : ''}number from ${min} to ${max}.`,
    );
  };

/** Parses an option that may be given several times. */
export const collect = (value: string, before: string[] = []): string[] => [...before, value];

/** Returns an object with one member, or without that member if its value is undefined. */
export const given = <const Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [Key in Name]?: Value } =>
  (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value };

/** Adds `--via`, `--operation` and `--status`. */
export const addRequestFilters = (command: Command): Command =>
  command
    .addOption(
      new Option('--via <way>', 'only requests over this channel').choices([...ledgerOrigins]),
    )
    .option('--operation <name>', 'only requests of this tool, operation, call or event')
    .option(
      '--status <number>',
      'only requests with this HTTP status; 0: requests without a status',
      parseNumber({ min: 0, max: 999, whole: true }),
    );

/** Returns the filters that were given as options. */
export const filterOf = ({ via, operation, status }: RequestFilter): RequestFilter => ({
  ...(via === undefined ? {} : { via }),
  ...(operation === undefined ? {} : { operation }),
  ...(status === undefined ? {} : { status }),
});
