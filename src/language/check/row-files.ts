/**
 * Reads files of rows: `<folder>/<entity>.json`, each a list of rows of one entity. The rows are validated here against
 * their entity's schema; `check/integrity.ts` checks that they are consistent with one another.
 */

import { parsePointer } from '#domain/json.ts';
import type { Row } from '../contract.ts';
import { languageLimits } from '../limits.ts';
import { placeOfJson } from '../read/document.ts';
import type { Placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import type { Tree } from '../read/tree.ts';
import { isTable, kindOf } from '../read/values.ts';
import type { FileRowChecker, RowProblem } from '../schema/checkers.ts';
import { escapesSurrogates } from '../schema/lossless-values.ts';
import { isOfKey } from '../schema/value-problem.ts';
import { findEntity, type Model } from './model.ts';

/** Rows by entity, with the place of the list that has them. */
export type RowSets = ReadonlyMap<string, Placed<Row[]>>;

/** Rows of a folder; `isSound` is true if no problem of the rows was reported. */
export type RowFiles = { sets: RowSets; isSound: boolean };

/**
 * Cache of row files without problems, by path: the text of each file, and the schema by which it was validated. If
 * both are unchanged, the file is neither parsed nor validated again. The cache is for callers that compile a tree
 * repeatedly.
 */
export type KnownRowFiles = Map<string, { text: string; shape: string; rows: Row[] }>;

export type RowSources = {
  tree: Tree;
  model: Model;
  rows: FileRowChecker;
  known?: KnownRowFiles | undefined;
};

/** Problems within one file of rows. Once their number reaches a limit, the rest of the file is not checked. */
type RowRefusals = {
  refuse(place: Place, ...problem: Parameters<Place['refuse']>): void;
  isFull(): boolean;
};

export const createRowRefusals = (file: Place): RowRefusals => {
  let count = 0;
  return {
    refuse(place, ...problem) {
      count += 1;
      if (count <= languageLimits.problemsPerRowFile) place.refuse(...problem);
      else file.refuse('more_problems', 'further rows have problems that are not listed');
    },
    isFull: () => count > languageLimits.problemsPerRowFile,
  };
};

const checkRows = (
  place: Place,
  entity: string,
  rows: readonly unknown[],
  check: (row: unknown) => RowProblem[],
): void => {
  const refusals = createRowRefusals(place);
  for (const [index, row] of rows.entries()) {
    if (refusals.isFull()) return;
    for (const problem of check(row)) {
      const { pointer, detail } = problem;
      const subject = pointer === '' ? 'the row' : pointer.slice(1).replaceAll('/', '.');
      const at = place.at(index, ...parsePointer(pointer));
      const shown = isOfKey(problem) ? at.ofKey() : at;
      refusals.refuse(shown, 'bad_row', `${entity}, row ${index}: ${subject} ${detail}`);
    }
  }
};

/** Transforms the rows of a file before they are validated. */
export type HoldRows = (
  place: Place,
  entity: string,
  rows: readonly unknown[],
) => readonly unknown[];

/** Returns the rows of a file; they come from the cache if the file is unchanged. */
const readKnown = (
  file: string,
  entity: string,
  sources: RowSources & { known: KnownRowFiles },
): Placed<Row[]> | undefined => {
  const { tree, model, known } = sources;
  const text = tree.text(file) ?? '';
  const shape = JSON.stringify([model.entities.get(entity)?.schema, model.definitions]);
  const before = known.get(file);
  if (before?.text === text && before.shape === shape) {
    return { place: placeOfJson(tree.problems, file, text), value: before.rows };
  }
  const count = tree.problems.count();
  const read = readFile(file, entity, sources, (_place, _entity, rows) => rows);
  known.delete(file);
  if (read !== undefined && tree.problems.count() === count) {
    known.set(file, { text, shape, rows: read.value });
  }
  return read;
};

const readFile = (
  file: string,
  entity: string,
  { tree, rows: checker }: RowSources,
  hold: HoldRows,
): Placed<Row[]> | undefined => {
  const document = tree.json(file);
  if (document === undefined) return undefined;
  const { place, value } = document;
  if (!Array.isArray(value)) {
    place.refuse('wrong_type', `must be a list of rows, is ${kindOf(value)}`);
    return undefined;
  }
  const rows = hold(place, entity, value);
  const hasEscapes = escapesSurrogates(tree.text(file) ?? '');
  checkRows(place, entity, rows, (row) => checker.check(entity, row, hasEscapes));
  return { place, value: rows.filter(isTable) };
};

/**
 * Returns all rows of a folder, in the order of the entities. Other files in the folder are refused, except notes in
 * `.md`.
 */
export const readRowFiles = (folder: string, sources: RowSources, hold?: HoldRows): RowFiles => {
  const { tree, model, known } = sources;
  const read = (file: string, entity: string): Placed<Row[]> | undefined =>
    hold === undefined && known !== undefined
      ? readKnown(file, entity, { ...sources, known })
      : readFile(file, entity, sources, hold ?? ((_place, _entity, rows) => rows));
  const before = tree.problems.count();
  const sets = new Map<string, Placed<Row[]>>();
  for (const file of tree.paths(folder)) {
    if (file.endsWith('.md')) continue;
    const [, entity] = /^([^/]+)\.json$/.exec(file.slice(folder.length)) ?? [];
    if (entity === undefined) {
      const message = `${folder} must contain only files of rows, named <entity>.json`;
      tree.place(file).refuse('unsupported_file', message);
    } else if (findEntity(tree.place(file), entity, model) !== undefined) {
      const rows = read(file, entity);
      if (rows !== undefined) sets.set(entity, rows);
    }
  }
  const ordered = [...model.entities.keys()].flatMap((name): [string, Placed<Row[]>][] => {
    const rows = sets.get(name);
    return rows === undefined ? [] : [[name, rows]];
  });
  return { sets: new Map(ordered), isSound: tree.problems.count() === before };
};
