/** `svc worlds data query` and `show`: read rows of a world as they are stored, without a session. */
import { type Command, InvalidArgumentError } from 'commander';
import { readData } from '#wire/public-api/operations.ts';
import type { CountsView, GroupsView, RowsView } from '#wire/public-api/worlds/data-read.ts';
import type { Static } from '#wire/type.ts';
import type { Context } from '../terminal/context.ts';
import { describeCounts, describeGroups, describeRows } from '../views/data-rows.ts';
import {
  addCommand,
  addressWith,
  addWorldVersion,
  clientFor,
  parseNumber,
  printAnswer,
  type ServiceOptions,
  withService,
} from './command.ts';

/**
 * Parses a value. A text that looks like a number, boolean, null, list or quoted text is read as JSON; any other is
 * taken as it is.
 */
const readValue = (text: string): unknown => {
  if (!/^(?:-?\d|true$|false$|null$|\[|")/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // for example a date, which begins like a number
  }
};

/** Filter: fields, or paths to them, each with its required value or a list of alternatives. */
export type Where = Record<string, unknown>;

/** Parses `--where field=value`. If a field is repeated, it may have any of the values. */
export const collectWhere = (given: string, before: Where = {}): Where => {
  const at = given.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('The filter does not have the form <field>=<value>.');
  const [field, value] = [given.slice(0, at), readValue(given.slice(at + 1))];
  const known = Object.hasOwn(before, field) ? [before[field]].flat() : [];
  const values = [...known, ...[value].flat()];
  const isList = known.length > 0 || Array.isArray(value);
  return Object.fromEntries([
    ...Object.entries(before).filter(([name]) => name !== field),
    [field, isList ? values : value],
  ]);
};

type PageOptions = ServiceOptions & { limit?: number; offset?: number; version?: string };

const addPage = (command: Command): Command =>
  withService(addWorldVersion(command))
    .option(
      '--limit <number>',
      'maximum number of rows on a page (default: 100)',
      parseNumber({ min: 1, max: 1_000, whole: true }),
    )
    .option(
      '--offset <number>',
      'number of rows to skip',
      parseNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, whole: true }),
    );

type QueryOptions = PageOptions & {
  where?: Where;
  resolve?: boolean;
  across?: boolean;
  compare?: boolean;
};

export const addDataQuery = (data: Command, context: Context): void => {
  const command = addCommand(data, {
    usage: 'query <world> <entity>',
    summary: 'query the rows of an entity by field values, also across linked worlds',
    example:
      'svc worlds data query crm contacts --where email=ann@example.test\nsvc worlds data query crm@3 contacts --where state=new --where state=open --limit 10\nsvc worlds data query crm contacts --where email=ann@example.test --across --compare',
  })
    .option(
      '--where <field=value>',
      'a field or path, and its value as JSON or text; if a field is repeated, any of its values matches',
      collectWhere,
    )
    .option(
      '--resolve',
      "the values of --where are plaintexts, to which the world's redaction is applied",
    )
    .option('--across', 'also search linked worlds that map these fields')
    .option('--compare', 'with --across: show how their rows differ');
  addPage(command).action(async (world: string, entity: string, options: QueryOptions) => {
    const slug = addressWith(world, options.version);
    const { where, limit, offset, resolve, across, compare } = options;
    const flags = { limit, offset, resolve, across, compare };
    const given = Object.entries(flags).filter(([, value]) => value !== undefined);
    const query = {
      ...Object.fromEntries(given),
      entity,
      ...(where === undefined ? {} : { where: JSON.stringify(where) }),
    };
    const { body } = await clientFor(context, options).send(readData, { params: { slug }, query });
    printAnswer(context, options, body, (view) =>
      across === true
        ? describeGroups(body as GroupsView, view)
        : describeRows(body as Static<typeof RowsView>, view),
    );
  });
};

export const addDataShow = (data: Command, context: Context): void => {
  const command = addCommand(data, {
    usage: 'show <world> [entity]',
    summary: 'show how many rows each entity of a world has, or the rows of one entity',
    example: 'svc worlds data show crm\nsvc worlds data show crm contacts --limit 20',
  });
  addPage(command).action(
    async (world: string, entity: string | undefined, options: PageOptions) => {
      const slug = addressWith(world, options.version);
      const { limit, offset } = options;
      const given = Object.entries({ entity, limit, offset });
      const query = Object.fromEntries(given.filter(([, value]) => value !== undefined));
      const client = clientFor(context, options);
      const { body } = await client.send(readData, { params: { slug }, query });
      printAnswer(context, options, body, (view) =>
        entity === undefined
          ? describeCounts(body as Static<typeof CountsView>, view)
          : describeRows(body as Static<typeof RowsView>, view),
      );
    },
  );
};
