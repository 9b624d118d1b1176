/**
 * Redacts the rows of a `seed` call, or of the seed of an inline task, before the service stores or logs any of them.
 * Runs in a compile process, because it examines every value of user input. Problems with the contract are found here,
 * too, because a host would quote the refused rows in the record of the call.
 */
import type { FieldProblem } from '#domain/error.ts';
import { isObject, parsePointer } from '#domain/json.ts';
import {
  createWithholding,
  type RowsByEntity,
  redactRows,
} from '#language/capture/redacted-rows.ts';
import type { Contract } from '#language/contract.ts';
import { type RedactionMode, redactionLack } from '#language/redaction-modes.ts';
import type { RowChecker } from '#language/schema/checkers.ts';
import { partially } from '#language/schema/partial-rows.ts';
import { seedModes } from '#language/task.ts';

/** Facts of a world that are needed to redact its rows. */
export type RedactingWorld = {
  contract: Pick<Contract, 'api' | 'definitions' | 'entities' | 'redact'>;
  rows: RowChecker;
};

type Refused = { ok: false; fields: FieldProblem[] };

export type RedactedSeed = { ok: true; inputJson: string } | Refused;

const mostProblems = 50;

const refuse = (path: string[], message: string): Refused => ({
  ok: false,
  fields: [{ path, message }],
});

/** Returns the problems of redacted rows with the contract, without quoting the rows. */
const checkRedacted = (
  { contract, rows: checker }: RedactingWorld,
  rows: RowsByEntity,
  isMerge: boolean,
): FieldProblem[] => {
  const withhold = createWithholding(contract);
  const check = isMerge ? partially(checker.check, contract.entities) : checker.check;
  const problems: FieldProblem[] = [];
  for (const [entity, list] of Object.entries(rows)) {
    for (const [index, row] of list.entries()) {
      for (const problem of check(entity, row)) {
        const { pointer, detail } = withhold(problem);
        problems.push({ path: [entity, String(index), ...parsePointer(pointer)], message: detail });
      }
      if (problems.length >= mostProblems) return problems.slice(0, mostProblems);
    }
  }
  return problems;
};

/**
 * Returns the rows in the form in which they are stored, or their problems. `at` is the path of the rows in the
 * request; the member `redact` is in the same object as the rows.
 */
export const redactSeedRows = (
  world: RedactingWorld,
  rows: RowsByEntity,
  { redact: mode, isMerge }: { redact: RedactionMode; isMerge: boolean },
  at: string[],
): { ok: true; rows: RowsByEntity } | Refused => {
  const lack = redactionLack(world.contract, mode);
  if (lack !== undefined) return refuse([...at.slice(0, -1), 'redact'], lack);
  const redacted = redactRows(world.contract, rows, mode);
  const problems = redacted.ok ? checkRedacted(world, redacted.rows, isMerge) : redacted.problems;
  if (redacted.ok && problems.length === 0) return redacted;
  const fields = problems.map(({ path, message }) => ({ path: [...at, ...path], message }));
  return { ok: false, fields };
};

const areRows = (rows: unknown): rows is RowsByEntity =>
  isObject(rows) &&
  Object.values(rows).every((list) => Array.isArray(list) && list.every(isObject));

/** Returns the input of a `seed` call in the form in which it is stored and sent to the host. */
export const redactSeed = (
  world: RedactingWorld,
  input: Record<string, unknown>,
  mode: RedactionMode,
): RedactedSeed => {
  const { rows, mode: seedMode = 'append', ...more } = input;
  if (Object.keys(more).length > 0) {
    return refuse(['input'], 'has members other than rows, mode and redact');
  }
  if (!(seedModes as readonly unknown[]).includes(seedMode)) {
    return refuse(['input', 'mode'], `must be ${seedModes.map((one) => `"${one}"`).join(' or ')}`);
  }
  const place = ['input', 'rows'];
  if (!areRows(rows)) {
    return refuse(place, 'must be an object that names entities, each with a list of rows');
  }
  const how = { redact: mode, isMerge: seedMode === 'merge' };
  const redacted = redactSeedRows(world, rows, how, place);
  if (!redacted.ok) return redacted;
  return { ok: true, inputJson: JSON.stringify({ rows: redacted.rows, mode: seedMode }) };
};
