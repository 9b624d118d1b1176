/**
 * Reads `[grader.changes]` of a scenario: the changes that are allowed in addition to those that its checks require,
 * and whether any other change fails the task. The format is this project's own.
 */
import { isComparison } from '../comparison.ts';
import type { Row } from '../contract.ts';
import {
  distinct,
  filledText,
  flag,
  kind,
  listOf,
  type Placed,
  placed,
  refuseType,
  text,
} from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { described, optional, required, type TableOf, tableOf } from '../read/table.ts';
import { isTable } from '../read/values.ts';

/** Returns conditions by their dotted paths. The author may write them as paths or as nested tables. */
const pathsOf = (value: Row, path = ''): [string, unknown][] =>
  Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    const at = path === '' ? key : `${path}.${key}`;
    return isTable(inner) && !isComparison(inner) ? pathsOf(inner as Row, at) : [[at, inner]];
  });

const where = kind<Row>({ type: 'object' }, (place: Place, value) =>
  isTable(value)
    ? Object.fromEntries(pathsOf(value as Row))
    : refuseType(place, 'a table of fields', value),
);

const allowanceKeys = {
  entity: described('An entity whose rows may change.', required(text, '')),
  fields: described(
    'Fields, or paths to them, that may be updated. Default: any change, including inserted and deleted rows.',
    optional<string[]>(distinct(listOf(filledText(), { least: 1, most: 100 }))),
  ),
  where: described(
    "Conditions on the rows that may change, written as in a check. They apply to a row's present values; for a deleted row, to its last values. Default: all rows.",
    optional<Row>(where),
  ),
};
export type AllowanceTable = TableOf<typeof allowanceKeys>;

const changesKeys = {
  closed: described(
    'Whether any other change fails the task, that is, a change that no check requires and "allow" does not list. Default: false.',
    optional(flag),
  ),
  allow: described(
    'Changes that are allowed in addition to those that the checks require.',
    optional<Placed<AllowanceTable>[]>(listOf(placed(tableOf(allowanceKeys)), { most: 1_000 })),
  ),
};
export type ChangesTable = TableOf<typeof changesKeys>;

export const changesTable = tableOf(changesKeys);
