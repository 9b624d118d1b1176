/**
 * Packs the rows of a request as a chunk of a batch: gzipped JSONL with one row on each line, and the row's entity if
 * there are several entities. With redaction, each row is packed in its redacted form. If the policy or the contract
 * refuses a row, its problem is packed in its place, so that no value of the row is stored.
 */
import { gzipSync } from 'node:zlib';
import { importLimits } from '#data/import/limits.ts';
import { type NotedFault, noteFault } from '#data/import/noted-faults.ts';
import { isObject } from '#domain/json.ts';
import { createWithholding } from '#language/capture/redacted-rows.ts';
import { createRedaction } from '#language/capture/redaction.ts';
import type { EntityContract, Row } from '#language/contract.ts';
import { languageLimits } from '#language/limits.ts';
import { isDeeperThan, kindOf } from '#language/read/values.ts';
import { partially } from '#language/schema/partial-rows.ts';
import type { RedactingWorld } from './redact-seed.ts';

export type PackRedaction = {
  mode: 'apply' | 'refuse';
  /** True if rows only update fields of existing rows; other fields may then be missing. */
  isMerge: boolean;
};

type Keep = (entity: string, row: unknown) => unknown;

const lacksKey = (row: Row, { primaryKey }: EntityContract): string | undefined =>
  primaryKey.find((name) => (row[name] ?? null) === null);

const wholeFault = (detail: string): NotedFault => ({ pointer: '', detail });

/** Returns the problem of a row's form; undefined if it has none. The form is checked before the policy. */
const formFault = (row: unknown): NotedFault | undefined => {
  if (!isObject(row)) return wholeFault(`must be an object, is ${kindOf(row)}`);
  if (isDeeperThan(row, languageLimits.depth)) {
    return wholeFault(`nests deeper than ${languageLimits.depth} levels`);
  }
  const { rowFields } = importLimits;
  if (Object.keys(row).length > rowFields) {
    return wholeFault(`has more than ${rowFields} fields`);
  }
  return undefined;
};

/** Creates the function that returns a row in the form in which it may be stored, or the row's problem. */
const createKeep = (
  { contract, rows: checker }: RedactingWorld,
  { mode, isMerge }: PackRedaction,
): Keep => {
  const { applyPolicy, verifyPolicy } = createRedaction(contract.redact);
  const withhold = createWithholding(contract);
  const entities = new Map(contract.entities.map((entity) => [entity.name, entity]));

  const check = isMerge ? partially(checker.check, contract.entities) : checker.check;

  const shapeFault = (entity: EntityContract, row: Row): NotedFault | undefined => {
    const faults = check(entity.name, row);
    const [first] = faults;
    if (first !== undefined) {
      const { pointer, detail } = withhold(first);
      const more = faults.length === 1 ? '' : ` (and ${faults.length - 1} more)`;
      return { pointer, detail: `${detail}${more}` };
    }
    const lacking = lacksKey(row, entity);
    if (lacking === undefined) return undefined;
    const key = entity.primaryKey.join(', ');
    return wholeFault(`the primary key is (${key}) and "${lacking}" is missing`);
  };

  return (name, given) => {
    const form = formFault(given);
    if (form !== undefined) return noteFault(withhold(form));
    const row = given as Row;
    const breach = mode === 'refuse' ? verifyPolicy(row) : undefined;
    if (breach !== undefined) {
      const { pointer, detail } = withhold(breach);
      return noteFault({ pointer, detail: `[${breach.policy}] ${detail}` });
    }
    const kept = mode === 'apply' ? applyPolicy(row) : row;
    const entity = entities.get(name);
    const fault =
      entity === undefined
        ? wholeFault(
            'belongs to an entity that the world does not have; the name is not repeated here',
          )
        : shapeFault(entity, kept);
    return fault === undefined ? kept : noteFault(fault);
  };
};

/** Packs rows in the order of the request. */
export const packRows = (
  rowsJson: string,
  redaction: { world: RedactingWorld; how: PackRedaction } | null,
): { ok: true; chunk: Uint8Array; rows: number } => {
  const given = JSON.parse(rowsJson) as Record<string, unknown[]>;
  const isOne = Object.keys(given).length === 1;
  const keep: Keep =
    redaction === null ? (_entity, row) => row : createKeep(redaction.world, redaction.how);
  const lines = Object.entries(given).flatMap(([entity, rows]) =>
    rows.map((each) => {
      const row = keep(entity, each);
      return JSON.stringify(isOne ? row : { entity, row });
    }),
  );
  const text = lines.map((line) => `${line}\n`).join('');
  return { ok: true, chunk: gzipSync(text), rows: lines.length };
};
