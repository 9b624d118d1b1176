/**
 * `scenarios/<name>/scenario.toml`: a bundled task: how its rows join the world's, and what is asserted
 * of the state that is left behind. The format is this project's own; see `docs/write-worlds/world-language.md`.
 */

import { isComparison } from '../comparison.ts';
import type { CheckCount } from '../contract.ts';
import {
  distinct,
  filledText,
  integer,
  kind,
  listOf,
  number,
  oneOf,
  type Placed,
  placed,
  refuseType,
  refuseValue,
  text,
} from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import {
  defaulted,
  defaultedTable,
  described,
  optional,
  readTable,
  required,
  type TableOf,
  tableOf,
} from '../read/table.ts';
import type { Tree } from '../read/tree.ts';
import { isTable } from '../read/values.ts';
import { type RedactionMode, redactionModes } from '../redaction-modes.ts';
import type { Solution } from '../solution.ts';
import { alternatives, solution } from './solution.ts';

/** A condition's path in dots with its value; tables inside are the same path written otherwise. */
export type Condition = { path: string; value: unknown; place: Place };

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

const mostRows = 1_000_000_000;
const rowCount = integer(0, mostRows);
const range = tableOf({
  min: described('At least so many.', optional(rowCount)),
  max: described('At most so many.', optional(rowCount)),
});

const count = kind<CheckCount>(
  { anyOf: [{ ...rowCount.schema }, { ...range.schema }] },
  (place, value) => {
    if (!isTable(value)) return rowCount(place, value);
    const { min, max } = range(place, value) ?? {};
    if (min === undefined && max === undefined) {
      return refuseValue(place, 'needs min, max or both');
    }
    if (min !== undefined && max !== undefined && min > max) {
      return refuseValue(place, `has a min of ${min}, which is more than its max of ${max}`);
    }
    return {
      ...(min === undefined ? {} : { min }),
      ...(max === undefined ? {} : { max }),
    };
  },
);

const checkKeys = {
  name: described('What must hold, in words; unique in the task.', required(filledText(200), '')),
  entity: described('An entity, or svc_requests, the request ledger.', required(text, '')),
  where: described(
    'Fields, or paths to them: a value, one of a list, or comparisons such as { gt = 10, lte = 20 }.',
    required<Condition[]>(conditions, []),
  ),
  count: described(
    'Exactly so many rows must match, or { min = 2, max = 3 }. Default: at least one.',
    optional<CheckCount>(count),
  ),
  weight: described('What it counts for in the score. Default: 1.', optional(number(0, 1_000))),
};
export type CheckTable = TableOf<typeof checkKeys>;

const graderKeys = {
  kind: described('How the task is graded.', required(oneOf(['assertions']), 'assertions')),
  checks: described(
    'What must hold of the state that is left.',
    required<Placed<CheckTable>[]>(listOf(placed(tableOf(checkKeys)), { least: 1 }), []),
  ),
};
export type GraderTable = TableOf<typeof graderKeys>;

const seedModes = ['append', 'replace'] as const;

export const scenarioFileKeys = {
  name: described("Name of the task. Default: the folder's.", optional(filledText(200))),
  description: described('For people.', optional(text)),
  tools: described(
    'Tools that the agent is given. Default: all of the world.',
    optional<string[]>(distinct(listOf(filledText()))),
  ),
  seed: described(
    'The rows of seed/.',
    defaultedTable({
      mode: described(
        "Rows join the world's, or stand in place of those of their entities.",
        defaulted<(typeof seedModes)[number]>(oneOf(seedModes), 'append'),
      ),
      redact: described(
        "What the world's [redact] does to them before the contract sees them.",
        defaulted<RedactionMode>(oneOf(redactionModes), 'off'),
      ),
    }),
  ),
  grader: described(
    'How the task is graded, unless there is checks/verify.py.',
    optional<Placed<GraderTable>>(placed(tableOf(graderKeys))),
  ),
  solution: described('How the task is solved, for proofs.', optional<Solution>(solution)),
  alternatives: described('Other ways that are as right.', optional<Solution[]>(alternatives)),
};
export type Scenario = TableOf<typeof scenarioFileKeys> & { place: Place };

/** Reads a scenario's file; undefined when it is missing or broken, which is noted. */
export const readScenario = (tree: Tree, file: string): Scenario | undefined => {
  if (!tree.has(file)) {
    tree.place(file).refuse('missing_file', `a scenario needs the file ${file}`);
    return undefined;
  }
  const document = tree.toml(file);
  if (document === undefined) return undefined;
  return { ...readTable(document.place, document.value, scenarioFileKeys), place: document.place };
};
