/**
 * Converts the states of traces and observations to rows: the columns that both have, and the state in a row that was
 * read.
 */
import type { State } from '#observability/state.ts';
import { fromStored, type Stored } from '#observability/stored.ts';
import type { Column } from '../core/row-columns.ts';

type Field<Row> = (row: Row) => unknown;

export const column = <Row>(name: string, type: string, of: Field<Row>): Column<Row> => ({
  name,
  type,
  of,
});

/** Row to write: its identity, its partition, and its state. */
export type Write = { projectId: string; key: string; id: string; week: number; stored: Stored };

export const valueColumn = <Row extends Write>(
  name: string,
  type: string,
  field: string,
): Column<Row> => column(name, type, ({ stored }) => stored.values[field]);

export const timeColumn = <Row extends Write>(name: string, field: string): Column<Row> =>
  column(name, 'timestamptz', ({ stored }) => stored.values[field]);

export const common = <Row extends Write>(): Column<Row>[] => [
  column('key', 'uuid', ({ key }) => key),
  column('project_id', 'text', ({ projectId }) => projectId),
  column('id', 'text', ({ id }) => id),
  column('week', 'integer', ({ week }) => week),
  column('began_at', 'timestamptz', ({ stored }) => stored.beganAt),
  column('began_is_given', 'boolean', ({ stored }) => stored.beganIsGiven),
  valueColumn('name', 'text', 'name'),
  valueColumn('environment', 'text', 'environment'),
  valueColumn('version', 'text', 'version'),
  valueColumn('input', 'text', 'input'),
  valueColumn('output', 'text', 'output'),
  column('metadata', 'text', ({ stored }) => stored.metadata),
  column('clock', 'text', ({ stored }) => stored.clock),
];

/** Columns for the state of a row, with the names that the program uses. */
export const storedColumns = `began_at as "beganAt", began_is_given as "beganIsGiven", metadata, clock`;

export type StateRow = {
  beganAt: Date;
  beganIsGiven: boolean;
  metadata: string | null;
  clock: string;
} & {
  [field: string]: unknown;
};

/** Returns the state in a row that was read. */
export const stateOf = (row: StateRow, fields: readonly string[]): State => {
  const values = fields.map((field) => {
    const value = row[field];
    return [field, value instanceof Date ? value.getTime() : (value ?? null)];
  });
  return fromStored({
    beganAt: row.beganAt.getTime(),
    beganIsGiven: row.beganIsGiven,
    values: Object.fromEntries(values),
    tags: (row.tags ?? []) as string[],
    metadata: row.metadata,
    clock: row.clock,
  });
};

export const isSame = (one: Stored, other: Stored): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
