/**
 * Warns of rows in a tree that have plaintext in fields that `[redact]` names. The policy applies to incoming rows
 * (captures, imports with `apply`, seeds with `apply`), but files of `data/` are stored as they are written. A warning
 * quotes no value, and no name that the contract does not declare.
 */
import { parsePointer } from '#domain/json.ts';
import { verifyRow } from '../capture/redact.ts';
import { createWithholding } from '../capture/redacted-rows.ts';
import { createRedaction, policyText } from '../capture/redaction.ts';
import type { Contract, RedactPolicy, Row } from '../contract.ts';
import { createShapeChecker } from '../schema/checkers.ts';

/** Rows of the tree's `data/`, by entity. */
export type BaseRows = Readonly<Record<string, readonly Row[]>>;

/** Maximum number of fields that one warning names. */
const mostFields = 5;

type Holding = {
  /** Number of rows that have plaintext. */
  rows: number;
  /** Fields that have plaintext, each with its policy. */
  fields: ReadonlySet<string>;
  /** First of the rows that have plaintext. */
  first: Row | undefined;
};

type Finder = {
  find(rows: readonly Row[]): Holding;
  /** Returns the fault that a row would have after redaction; undefined if it would fit the contract. */
  misfit(entity: string, row: Row): string | undefined;
};

const modeText = (redact: RedactPolicy, mode: string, name: string): string =>
  mode === 'round' ? policyText({ mode, decimals: redact.round[name] ?? 0 }) : mode;

const createFinder = (contract: Contract, redact: RedactPolicy): Finder => {
  const { applyPolicy, verifyPolicy } = createRedaction(redact);
  const withhold = createWithholding(contract);
  const checker = createShapeChecker(contract);
  const fieldsOf = (row: Row): string[] =>
    verifyRow(redact, row).map(({ pointer, mode, detail }) => {
      const path = parsePointer(withhold({ pointer, detail }).pointer);
      const shown = path.map((name) => (/^\d+$/.test(name) ? '*' : name)).join('.');
      return `${shown || 'a field'} [${modeText(redact, mode, path.at(-1) ?? '')}]`;
    });
  return {
    find(rows) {
      const held = rows.filter((row) => verifyPolicy(row) !== undefined);
      return { rows: held.length, fields: new Set(held.flatMap(fieldsOf)), first: held[0] };
    },
    misfit(entity, row) {
      const [problem] = checker.check(entity, applyPolicy(row));
      if (problem === undefined) return undefined;
      const [detail = ''] = withhold(problem).detail.split('; its value is not repeated', 1);
      return problem.field === '' ? `the row ${detail}` : `${entity}.${problem.field} ${detail}`;
    },
  };
};

const listFields = (fields: ReadonlySet<string>): string => {
  const shown = [...fields].slice(0, mostFields).join(', ');
  return fields.size > mostFields ? `${shown} and ${fields.size - mostFields} more` : shown;
};

/** Returns `all 30 rows hold`, `3 of 30 rows hold` or `its one row holds`. */
const rowsText = (held: number, all: number): string => {
  if (all === 1) return 'its one row holds';
  return held === all ? `all ${all} rows hold` : `${held} of ${all} rows hold`;
};

const fileWarning = (finder: Finder, entity: string, rows: readonly Row[]): string[] => {
  const { rows: held, fields, first } = finder.find(rows);
  if (first === undefined) return [];
  const path = `data/${entity}.json`;
  const found = `${path}: ${rowsText(held, rows.length)} plaintext in ${listFields(fields)}, as [redact] is not applied to data/`;
  const misfit = finder.misfit(entity, first);
  const way = `svc worlds data extract . ${path} --entity ${entity} --out ${path}`;
  return [
    misfit === undefined
      ? `${found}; in the folder of the world "${way}" writes them redacted`
      : `${found}; redacted they would not fit (${misfit}): change the schema or [redact], then run "${way}" in the folder of the world`,
  ];
};

const seedWarning = (
  finder: Finder,
  task: string,
  entity: string,
  rows: readonly Row[],
): string[] => {
  const { rows: held, fields } = finder.find(rows);
  if (held === 0) return [];
  return [
    `task ${task}, seed of ${entity}: ${rowsText(held, rows.length)} plaintext in ${listFields(fields)}; write redact = "apply" in [seed] to have them redacted`,
  ];
};

/** Returns a warning for each file of `data/`, and each entity of a task's seed, that has plaintext. */
export const plaintextWarnings = (contract: Contract, baseRows: BaseRows): string[] => {
  const { entities, redact, tasks } = contract;
  if (redact === null) return [];
  const finder = createFinder(contract, redact);
  return [
    ...entities.flatMap(({ name }) => fileWarning(finder, name, baseRows[name] ?? [])),
    ...tasks.flatMap(({ name: task, seed }) =>
      Object.entries(seed.rows).flatMap(([entity, rows]) =>
        seedWarning(finder, task, entity, rows),
      ),
    ),
  ];
};
