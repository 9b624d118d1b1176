/**
 * Applies `redact` of a scenario's seed, which applies the world's policy before the seed's rows are validated. With
 * `apply`, files with plaintext are rewritten with the redacted rows, and the scenario's file with `refuse` in place of
 * `apply`. A program that stores the tree stores the rewritten files, so only the author has the plaintext.
 */
import { isDeepStrictEqual } from 'node:util';
import { parsePointer } from '#domain/json.ts';
import type { TreeFile } from '#domain/world.ts';
import { createWithholding } from '../capture/redacted-rows.ts';
import { createRedaction } from '../capture/redaction.ts';
import type { Contract, Row } from '../contract.ts';
import type { Scenario } from '../files/scenario-toml.ts';
import { parseToml } from '../read/document.ts';
import { createProblems, type Place } from '../read/place.ts';
import type { Tree } from '../read/tree.ts';
import { isTable } from '../read/values.ts';
import { redactionLack } from '../redaction-modes.ts';
import type { FileRowChecker } from '../schema/checkers.ts';
import type { Model } from './model.ts';
import { createRowRefusals } from './row-files.ts';

/** Parts of the contract from which rows are redacted. Null `redact` means that the world has no policy. */
export type WorldRedaction = Pick<Contract, 'redact' | 'api'>;

export type SeedRedaction = {
  /** Returns the rows in the form to be validated and stored. Rows that violate the policy are refused. */
  hold(place: Place, entity: string, rows: readonly unknown[]): readonly unknown[];
  /** Validates rows against their schemas, without quoting them in problems. */
  rows: FileRowChecker;
  /** Returns the rewritten files; must be called after all rows were processed. */
  rewritten(): TreeFile[];
};

const encoder = new TextEncoder();

const applied = /(\bredact["']?\s*=\s*)(["'])apply\2/g;

/**
 * Returns a scenario's file with `refuse` in place of `apply`; undefined if the pattern does not find the key as it is
 * written.
 */
const refusingFile = (file: string, text: string): TreeFile | undefined => {
  const parsed = (toml: string): unknown => parseToml(createProblems(), file, toml)?.value;
  const before = parsed(text);
  if (!isTable(before) || !isTable(before.seed)) return undefined;
  const wanted = { ...before, seed: { ...before.seed, redact: 'refuse' } };
  for (const { 0: found, 1: head, 2: mark, index } of text.matchAll(applied)) {
    const changed = `${text.slice(0, index)}${head}${mark}refuse${mark}${text.slice(index + found.length)}`;
    if (isDeepStrictEqual(parsed(changed), wanted)) {
      return { path: file, content: encoder.encode(changed) };
    }
  }
  return undefined;
};

type Sources = { tree: Tree; model: Model; rows: FileRowChecker; redaction: WorldRedaction };

/** Opens the redaction of a scenario's seed; undefined if its rows are stored as they are given. */
export const openSeedRedaction = (
  { seed: { redact: mode }, place }: Scenario,
  file: string,
  { tree, model, rows: checker, redaction }: Sources,
): SeedRedaction | undefined => {
  if (mode === 'off') return undefined;
  const at = place.at('seed', 'redact');
  const lack = redactionLack(redaction, mode);
  if (lack !== undefined) {
    at.refuse('missing_file', lack);
    return undefined;
  }
  const { redact } = redaction;
  const { applyPolicy, verifyPolicy } = createRedaction(redact);
  const entities = [...model.entities.values()];
  const withhold = createWithholding({ definitions: model.definitions, entities, redact });
  const changed: TreeFile[] = [];
  const apply = (rowsPlace: Place, rows: readonly unknown[]): readonly unknown[] => {
    const kept = rows.map((row) => (isTable(row) ? applyPolicy(row) : row));
    if (kept.some((row, index) => row !== rows[index])) {
      const content = encoder.encode(`${JSON.stringify(kept, null, 2)}\n`);
      changed.push({ path: rowsPlace.file, content });
    }
    return kept;
  };
  const verify = (rowsPlace: Place, entity: string, rows: readonly unknown[]): void => {
    const refusals = createRowRefusals(rowsPlace);
    for (const [index, row] of rows.entries()) {
      if (refusals.isFull()) return;
      const breach = isTable(row) ? verifyPolicy(row as Row) : undefined;
      if (breach === undefined) continue;
      const { pointer, detail } = withhold(breach);
      const inside = parsePointer(pointer);
      const message = `${entity}, row ${index}: ${inside.join('.') || 'a field'} [${breach.policy}] ${detail}`;
      refusals.refuse(rowsPlace.at(index, ...inside), 'bad_row', message);
    }
  };
  return {
    hold(rowsPlace, entity, rows) {
      if (mode === 'apply') return apply(rowsPlace, rows);
      verify(rowsPlace, entity, rows);
      return rows;
    },
    rows: {
      check: (entity, row, hasEscapes) =>
        checker.check(entity, row, hasEscapes).map((fault) => ({ ...fault, ...withhold(fault) })),
    },
    rewritten() {
      if (mode !== 'apply' || redact === null) return [];
      const own = refusingFile(file, tree.text(file) ?? '');
      if (own === undefined) {
        at.refuse(
          'bad_value',
          'is written in a form that cannot be replaced by "refuse" automatically',
          'write the key as: redact = "apply"',
        );
        return [];
      }
      return [...changed, own];
    },
  };
};
