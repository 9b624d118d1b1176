/**
 * Declares commands that send one request and print its answer. Each command is one object: the text of its help, the
 * operation, its input, and the view of the answer. `addListCommand` adds paging, filters and a time range. Commands
 * that send more than one request, or that work on files, have an action of their own.
 */
import { type Command, Option } from 'commander';
import { limits } from '#domain/limits.ts';
import type { Client } from '#wire/client.ts';
import type { Answer, ClientInput, OperationShape } from '#wire/operation.ts';
import type { Context, View } from '../terminal/context.ts';
import {
  addCommand,
  type CommandText,
  clientFor,
  collect,
  given,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';
import { addTimes, fromOf, type TimeOptions } from './times.ts';

type ArgumentOf<Word extends string> = Word extends `<${string}...>`
  ? [string[]]
  : Word extends `<${string}>`
    ? [string]
    : Word extends `[${string}]`
      ? [string | undefined]
      : [];

/**
 * Types of a command's arguments, derived from its usage: `show <dataset> [run]` gives `[string, string | undefined]`.
 */
type ArgumentsOf<Usage extends string> = Usage extends `${infer Word} ${infer Rest}`
  ? [...ArgumentOf<Word>, ...ArgumentsOf<Rest>]
  : ArgumentOf<Usage>;

type Body<Shape extends OperationShape> =
  Answer<Shape> extends { body: infer Value } ? Value : never;

type Entries<Shape extends OperationShape> =
  Body<Shape> extends { data: infer Value } ? Value : never;

type Query<Shape extends OperationShape> = NonNullable<ClientInput<Shape>['query']>;

type Declared<Usage extends string, Options, Shape extends OperationShape> = CommandText & {
  usage: Usage;
  /** Adds the command's own options. */
  options?: (command: Command) => unknown;
  operation: Shape;
  /**
   * Returns the input of the operation. It runs before the command looks for the service, unless it calls `client`, so
   * that a usage error is reported even without a service.
   */
  input?: (
    words: ArgumentsOf<Usage>,
    options: Options,
    client: () => Client,
  ) => ClientInput<Shape> | Promise<ClientInput<Shape>>;
  /** Creates the client; default: the client of the project. */
  connect?: (context: Context, options: ServiceOptions) => Client;
};

type Parsed<Usage extends string, Options> = {
  words: ArgumentsOf<Usage>;
  options: Options & ServiceOptions;
};

/** Splits the parameters of an action: commander passes the arguments, then the options, then the command. */
const parsedOf = <Usage extends string, Options>(
  parameters: readonly unknown[],
): Parsed<Usage, Options> => ({
  words: parameters.slice(0, -2) as ArgumentsOf<Usage>,
  options: parameters.at(-2) as Options & ServiceOptions,
});

/** Sends the operation of a command and returns its answer. `query` is added to the query of the input. */
const request = async <Usage extends string, Options, Shape extends OperationShape>(
  context: Context,
  { operation, input, connect = clientFor }: Declared<Usage, Options, Shape>,
  { words, options }: Parsed<Usage, Options>,
  query: Record<string, unknown> = {},
): Promise<Body<Shape>> => {
  let client: Client | undefined;
  const connected = (): Client => {
    client ??= connect(context, options);
    return client;
  };
  const own = (await input?.(words, options, connected)) as ClientInput<OperationShape> | undefined;
  const whole = { ...own, query: { ...query, ...(own?.query as object | undefined) } };
  const answer: { body: unknown } = await connected().send(operation, whole as ClientInput<Shape>);
  return answer.body as Body<Shape>;
};

type RequestCommand<Usage extends string, Options, Shape extends OperationShape> = Declared<
  Usage,
  Options,
  Shape
> & {
  /** Formats the answer. */
  text: (body: Body<Shape>, view: View, words: ArgumentsOf<Usage>) => string;
};

/** Adds a command that sends one request and prints its answer. */
export const addRequestCommand = <
  const Usage extends string,
  Shape extends OperationShape,
  Options = unknown,
>(
  parent: Command,
  context: Context,
  declared: RequestCommand<Usage, Options, Shape>,
): Command => {
  const command = addCommand(parent, declared);
  declared.options?.(command);
  return withService(command).action(async (...parameters: unknown[]) => {
    const parsed = parsedOf<Usage, Options>(parameters);
    const body = await request<Usage, Options, Shape>(context, declared, parsed);
    printAnswer(context, parsed.options, body, (view) => declared.text(body, view, parsed.words));
  });
};

type ListCommand<Usage extends string, Options, Shape extends OperationShape> = Declared<
  Usage,
  Options,
  Shape
> & {
  /** Options that become parameters of the query, by the parameter's name. */
  filters?: { readonly [Name in keyof Query<Shape>]?: Option };
  /**
   * Names of the two parameters that limit the time range. If they are given, the command has `--from`, `--to` and
   * `--last`.
   */
  times?: readonly [from: keyof Query<Shape> & string, to: keyof Query<Shape> & string];
  /** Formats the entries of a page. */
  text: (entries: Entries<Shape>, view: View) => string;
};

/** Creates an option that may be given several times. */
export const repeatable = (flags: string, about: string): Option =>
  new Option(flags, about).argParser(collect);

type PagingOptions = { page: number; limit: number };

/** Adds `--page` and `--limit`. */
const addPaging = (command: Command): Command =>
  command
    .option(
      '--page <number>',
      'number of the page, from 1',
      parseNumber({ min: 1, max: 1_000_000, whole: true }),
      1,
    )
    .option(
      '--limit <number>',
      'maximum number of entries on a page',
      parseNumber({ min: 1, max: limits.pageMax, whole: true }),
      limits.pageDefault,
    );

type PageMeta = {
  page: number;
  limit: number;
  totalItems: number;
  totalPages: number;
  totalItemsIsLowerBound?: true;
};

/** Returns a line that says how to get the next page; an empty text if this is the last page. */
const moreText = ({ page, totalPages, totalItems, ...meta }: PageMeta): string[] => {
  const orMore = meta.totalItemsIsLowerBound === true ? ' or more' : '';
  if (page >= totalPages && orMore === '') return [];
  return [
    `page ${page} of ${totalPages}${orMore}, ${totalItems}${orMore} in all; --page ${page + 1} shows the next page`,
  ];
};

/** Returns the query of a page from the options of a list. */
const queryOf = (
  filters: readonly (readonly [string, Option])[],
  times: readonly [from: string, to: string] | undefined,
  options: PagingOptions & TimeOptions & Record<string, unknown>,
): Record<string, unknown> => ({
  page: options.page,
  limit: options.limit,
  ...Object.assign(
    {},
    ...filters.map(([name, option]) => given(name, options[option.attributeName()])),
  ),
  ...(times === undefined
    ? {}
    : { ...given(times[0], fromOf(options)), ...given(times[1], options.to) }),
});

/**
 * Adds a command that prints one page of a list, and how to get the next page. With `--json` it prints both as JSON.
 */
export const addListCommand = <
  const Usage extends string,
  Shape extends OperationShape,
  Options = unknown,
>(
  parent: Command,
  context: Context,
  declared: ListCommand<Usage, Options, Shape>,
): Command => {
  const filters = Object.entries((declared.filters ?? {}) as Record<string, Option>);
  const command = addCommand(parent, declared);
  for (const [, option] of filters) command.addOption(option);
  declared.options?.(command);
  addPaging(command);
  if (declared.times !== undefined) addTimes(command);
  return withService(command).action(async (...parameters: unknown[]) => {
    const parsed = parsedOf<Usage, Options & PagingOptions & TimeOptions & Record<string, unknown>>(
      parameters,
    );
    const query = queryOf(filters, declared.times, parsed.options);
    const body = await request<Usage, Options, Shape>(context, declared, parsed, query);
    const { data, meta } = body as { data: Entries<Shape>; meta: PageMeta };
    printAnswer(context, parsed.options, body, (view) =>
      [declared.text(data, view), ...moreText(meta)].join('\n'),
    );
  });
};
