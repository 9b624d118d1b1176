/**
 * Types, lists of columns and conversions that are derived from the table of a session's columns. The lists are built
 * when the module is loaded, so the text of each statement is constant.
 */
import { type Column, sessionTable } from './session-columns.ts';

type Columns = typeof sessionTable;
type Key = keyof Columns;
type Overrides = { [Of in Key]?: string };

const entries = Object.entries(sessionTable) as [Key, Column][];

/** Row of a session. */
export type SessionRow = {
  -readonly [Of in Key as Columns[Of] extends { isInRow: false } ? never : Of]: Columns[Of]['type'];
};

const selectList = (list: readonly [Key, Column][], overrides: Overrides = {}): string =>
  list
    .map(([key, { name, read = `s.${name}` }]) => `${overrides[key] ?? read} as "${key}"`)
    .join(', ');

const rowColumns = entries.filter(([, { isInRow }]) => isInRow !== false);

/**
 * Builds the list of columns for selecting a `SessionRow` from sessions `s`. `overrides` replaces single columns by
 * other expressions.
 */
export const sessionColumns = (overrides?: { [Of in keyof SessionRow]?: string }): string =>
  selectList(rowColumns, overrides);

/** Type of a value of a new session, as the insert gets it. */
type Written<Of extends Column> = Of extends { cast: 'json' }
  ? string | Extract<Of['type'], null>
  : Of['type'];

/** Values of a new session: those that the client sets, and those that the control plane sets. */
export type SetColumns = {
  -readonly [Of in Key as Columns[Of] extends { set: string } ? Of : never]: Written<Columns[Of]>;
};

/**
 * Builds the lists of columns and values for the insert of a session. A value is a parameter with the name of the
 * column; for the columns in `computed`, it is that expression.
 */
export const insertLists = (computed: Overrides): { names: string; values: string } => {
  const list = entries.flatMap(([key, { name, set, cast }]) => {
    if (name === undefined || (set === undefined && computed[key] === undefined)) return [];
    return [{ name, value: computed[key] ?? `:${key}${cast === undefined ? '' : `::${cast}`}` }];
  });
  return {
    names: list.map(({ name }) => name).join(', '),
    values: list.map(({ value }) => value).join(', '),
  };
};

type ClientKey = { [Of in Key]: Columns[Of] extends { set: 'client' } ? Of : never }[Key];
type ClientColumns = Pick<SetColumns, ClientKey>;

const clientColumns = entries.filter(([, { set }]) => set === 'client');

/** Returns the values that the client sets, from the request to open a session. */
export const readClientColumns = (
  body: {
    [Of in ClientKey]?: ClientColumns[Of] | undefined;
  },
): ClientColumns =>
  Object.fromEntries(
    clientColumns.map(([key, { absent }]) => [key, body[key as ClientKey] ?? absent]),
  ) as ClientColumns;

type Shown<Value> = Value extends Date ? string : Value;
type ShownColumns = {
  -readonly [Of in Key as Columns[Of] extends { isShown: true } ? Of : never]: Shown<
    Columns[Of]['type']
  >;
};

const shownKeys = entries.filter(([, { isShown }]) => isShown).map(([key]) => key);

/** Returns those members of a session's view that are columns of the session. Times are texts. */
export const showColumns = (session: SessionRow): ShownColumns =>
  Object.fromEntries(
    shownKeys.map((key) => {
      const value = session[key as keyof SessionRow];
      return [key, value instanceof Date ? value.toISOString() : value];
    }),
  ) as ShownColumns;

/** Columns of a session from which the assignment for the host is built. */
export type HostColumns = {
  -readonly [Of in Key as Columns[Of] extends { host: string } ? Of : never]: Columns[Of]['type'];
};

const hostColumns = entries.filter(([, { host }]) => host !== undefined);
const hostKeys = hostColumns.map(([key]) => key as keyof HostColumns);

/** List of columns for selecting `HostColumns` from sessions `s`. */
export const hostColumnList = selectList(hostColumns);

const pick = <Values extends object, Of extends keyof Values>(
  values: Values,
  keys: readonly Of[],
): Pick<Values, Of> =>
  Object.fromEntries(keys.map((key) => [key, values[key]])) as Pick<Values, Of>;

/** Returns the columns for the host, without any other member of the session. */
export const pickHostColumns = (session: HostColumns): HostColumns => pick(session, hostKeys);

type SentKey = { [Of in Key]: Columns[Of] extends { host: 'sent' } ? Of : never }[Key];

const sentKeys = hostColumns
  .filter(([, { host }]) => host === 'sent')
  .map(([key]) => key as SentKey);

/** Returns those members of the assignment that are columns of the session. */
export const sentColumns = (session: HostColumns): Pick<HostColumns, SentKey> =>
  pick(session, sentKeys);
