/** Reads `[grader]` of a scenario: checks of a session's final state. The format is this project's own. */

import type { GivenCheck, RelatedRows } from '../checks.ts';
import { type CheckCount, relatedKinds } from '../checks.ts';
import { isComparison } from '../comparison.ts';
import type { Row } from '../contract.ts';
import {
  anything,
  distinct,
  filledText,
  integer,
  kind,
  listOf,
  mapOf,
  number,
  oneOf,
  type Placed,
  placed,
  refuseType,
  text,
} from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { described, optional, required, type TableOf, tableOf } from '../read/table.ts';
import { isTable } from '../read/values.ts';
import { type ChangesTable, changesTable } from './changes-toml.ts';

/** A condition: its dotted path and its value. The path may also be written as nested tables. */
type Condition = { path: string; value: unknown; place: Place };

const isScalar = (value: unknown): boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

const readConditions = (place: Place, value: unknown, path: string): Condition[] => {
  if (isTable(value) && path !== '' && isComparison(value)) return [{ path, value, place }];
  if (isTable(value)) {
    return Object.entries(value).flatMap(([key, inner]) =>
      readConditions(place.at(key), inner, path === '' ? key : `${path}.${key}`),
    );
  }
  if (isScalar(value) || (Array.isArray(value) && value.every(isScalar))) {
    return [{ path, value, place }];
  }
  refuseType(place, 'a scalar, a list of scalars or a comparison', value);
  return [];
};

const conditions = kind<Condition[]>({ type: 'object' }, (place, value) =>
  isTable(value) ? readConditions(place, value, '') : refuseType(place, 'a table of fields', value),
);

const where = described(
  'Conditions on fields, or on paths to fields: a value, a list of allowed values, or comparisons such as { gt = 10, lte = 20 }.',
  required<Condition[]>(conditions, []),
);

const mostRows = 1_000_000_000;
const rowCount = integer(0, mostRows);
const range = tableOf({
  min: described('Lower bound.', optional(rowCount)),
  max: described('Upper bound.', optional(rowCount)),
});

/** Returns an object without those of its members that are undefined. */
const given = <Value extends object>(
  value: Value,
): { [Name in keyof Value]: NonNullable<Value[Name]> } =>
  Object.fromEntries(Object.entries(value).filter(([, held]) => held !== undefined)) as {
    [Name in keyof Value]: NonNullable<Value[Name]>;
  };

const count = kind<CheckCount>(
  { anyOf: [{ ...rowCount.schema }, { ...range.schema }] },
  (place, value) => {
    if (!isTable(value)) return rowCount(place, value);
    return given(range(place, value) ?? {});
  },
);

const fields = distinct(listOf(filledText(), { least: 1, most: 100 }));

const related = tableOf({
  entity: described(
    'An entity that has a relationship with the entity of the check.',
    required(text, ''),
  ),
  where,
  by: described(
    'Fields of the relationship, needed only if the two entities have several.',
    optional<string[]>(listOf(filledText(), { least: 1, most: 16 })),
  ),
});

const judgedKeys = {
  name: described(
    'Name of the check, unique in the task: the condition in words.',
    required(filledText(200), ''),
  ),
  weight: described('Weight of the check in the score. Default: 1.', optional(number(0, 1_000))),
  before: described(
    'Name of another check. The rows that this check finds must come before the rows that the other finds.',
    optional(filledText(200)),
  ),
  after: described(
    'Name of another check. The rows that this check finds must come after the rows that the other finds.',
    optional(filledText(200)),
  ),
};

const rowsKeys = {
  ...judgedKeys,
  entity: described('An entity, or svc_requests, the request ledger.', required(text, '')),
  where,
  count: described(
    'Number of rows that must match, or { min = 2, max = 3 }. Default: at least one.',
    optional<CheckCount>(count),
  ),
  any: described('At least one related row matches.', optional(related)),
  all: described('Every related row matches.', optional(related)),
  none: described('No related row matches.', optional(related)),
  changed: described(
    'Fields whose values must differ from those when the task began.',
    optional<string[]>(fields),
  ),
  unchanged: described(
    'Fields whose values must be the same as when the task began.',
    optional<string[]>(fields),
  ),
  increased_by: described(
    'Fields, each with the amount by which it must have increased since the task began.',
    optional<Map<string, number>>(mapOf(number(-Number.MAX_VALUE, Number.MAX_VALUE), { least: 1 })),
  ),
};

const answerKeys = {
  ...judgedKeys,
  kind: described("A check of the agent's answer.", required(oneOf(['answer']), 'answer')),
  equals: described('The right answer.', required<unknown>(anything, null)),
  as: described(
    '"set": the answer is a list, whose order and repetitions do not matter.',
    optional(oneOf(['set'])),
  ),
  tolerance: described(
    'Maximum difference from the right number.',
    optional(number(0, Number.MAX_VALUE)),
  ),
};

const rowsTable = tableOf(rowsKeys);
const answerTable = tableOf(answerKeys);

type Whered = { where: Condition[] };
const rowOf = ({ where: list }: Whered): Row =>
  Object.fromEntries(list.map(({ path, value }) => [path, value]));

const relatedOf = (
  table: TableOf<{ entity: typeof rowsKeys.entity }> & Whered & { by?: string[] | undefined },
): RelatedRows => ({
  ...given({ entity: table.entity, by: table.by }),
  where: rowOf(table),
});

/** A parsed check, with the places of its conditions by their paths. */
export type CheckRead = {
  check: GivenCheck & { name: string };
  /** Returns the place of a member of the check; conditions may be written as nested tables. */
  placeOf(path: readonly (string | number)[]): Place;
};

const readRowsCheck = (place: Place, value: unknown): CheckRead | undefined => {
  const table = rowsTable(place, value);
  if (table === undefined) return undefined;
  const { increased_by, any, all, none, ...rest } = table;
  const parts = given({ any, all, none });
  const lists: [string, Condition[]][] = [
    ['where', table.where],
    ...relatedKinds.flatMap((name): [string, Condition[]][] => {
      const part = parts[name];
      return part === undefined ? [] : [[`${name}/where`, part.where]];
    }),
  ];
  const places = new Map(
    lists.flatMap(([at, list]) => list.map(({ path, place: own }) => [`${at}/${path}`, own])),
  );
  const check = {
    ...given({ ...rest, increased_by: increased_by && Object.fromEntries(increased_by) }),
    ...Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, relatedOf(part)])),
    where: rowOf(table),
  };
  return {
    check: check as CheckRead['check'],
    placeOf: (path) => places.get(path.join('/')) ?? place.at(...path),
  };
};

const readAnswerCheck = (place: Place, value: unknown): CheckRead | undefined => {
  const table = answerTable(place, value);
  if (table === undefined) return undefined;
  return { check: given(table) as CheckRead['check'], placeOf: (path) => place.at(...path) };
};

const check = kind<CheckRead>(
  { anyOf: [rowsTable.schema ?? {}, answerTable.schema ?? {}] },
  (place, value) =>
    isTable(value) && Object.hasOwn(value, 'kind')
      ? readAnswerCheck(place, value)
      : readRowsCheck(place, value),
);

const graderKeys = {
  kind: described('How the task is graded. Default: by checks.', optional(oneOf(['assertions']))),
  checks: described(
    'Checks of the final state. A check with kind = "answer" checks the answer of the agent instead; its keys are listed after those of the other checks. Must be absent if the scenario has checks/verify.py.',
    optional<CheckRead[]>(listOf(check, { least: 1 })),
  ),
  changes: described(
    'Changes that are allowed in addition to those that the checks require.',
    optional<Placed<ChangesTable>>(placed(changesTable)),
  ),
};
export type GraderTable = TableOf<typeof graderKeys>;

export const graderTable = placed(tableOf(graderKeys));
