/**
 * Prepares a folder for the comparison with its vendor: its captures by operation, and the rows that the world serves.
 * If the folder has no rows of the captured entities, rows are created from its captures.
 */

import { createShaping } from '#data/formats/shape-rows.ts';
import type { TreeFile } from '#domain/world.ts';
import { type CompileResult, compileTree, replaceFiles } from '#language/compile/compile.ts';
import type { Row } from '#language/contract.ts';
import { extractCaptures } from '#language/edit/reconcile/extract-captures.ts';
import { textFile } from '#language/edit/tree-text.ts';
import { readCaptures } from '#language/files/capture-json.ts';
import { createProblems } from '#language/read/place.ts';
import { openTree } from '#language/read/tree.ts';
import type { CapturedPage } from '#mirror/conform/plan.ts';
import { ProblemsError } from '../views/report.ts';

export type CompiledTree = Extract<CompileResult, { ok: true }>;

export type CapturedWorld = {
  files: readonly TreeFile[];
  compiled: CompiledTree;
  captures: Map<string, CapturedPage[]>;
  /** True if the rows were created from the captures. */
  hasCapturedRows: boolean;
};

/** Returns the captures of a tree, or of a folder that contains nothing else. */
export const capturesOf = (
  folder: string,
  files: readonly TreeFile[],
): CapturedWorld['captures'] => {
  const problems = createProblems();
  const tree = openTree(files, problems);
  const read = tree === undefined ? [] : readCaptures(tree);
  if (problems.list().length > 0) {
    throw new ProblemsError(folder, problems.list(), files, 'has captures that cannot be read');
  }
  const captures = new Map<string, CapturedPage[]>();
  for (const { place, value } of read) {
    const known = captures.get(value.operation) ?? [];
    captures.set(value.operation, [...known, { file: place.file, capture: value }]);
  }
  return captures;
};

/** Creates files of rows from captures, in the shape of the world. */
const rowFiles = (
  folder: string,
  files: readonly TreeFile[],
  { contract }: CompiledTree,
): TreeFile[] => {
  const extracted = extractCaptures(files);
  if (!extracted.ok) {
    throw new ProblemsError(folder, extracted.problems, files, 'has captures that cannot be read');
  }
  const { shape } = createShaping(contract, contract.redact);
  const rows = new Map<string, Row[]>();
  for (const { entity, rows: found, preserved } of extracted.entities) {
    const shaped = found.map((row) => shape(entity, row, preserved));
    rows.set(entity, [...(rows.get(entity) ?? []), ...shaped]);
  }
  return [...rows].map(([entity, list]) => textFile(`data/${entity}.json`, JSON.stringify(list)));
};

const compile = (folder: string, files: readonly TreeFile[], said?: string): CompiledTree => {
  const compiled = compileTree(files);
  if (compiled.ok) return compiled;
  throw new ProblemsError(folder, compiled.problems, files, said);
};

/** Reads a folder. If it has problems, throws them. */
export const readCapturedWorld = (folder: string, files: readonly TreeFile[]): CapturedWorld => {
  const compiled = compile(folder, files);
  const captures = capturesOf(folder, files);
  const captured = (compiled.contract.vendor?.operations ?? [])
    .filter(({ name }) => captures.has(name))
    .flatMap(({ entity }) => entity ?? []);
  const hasRows = captured.some((entity) => (compiled.baseRows[entity] ?? []).length > 0);
  if (captured.length === 0 || hasRows)
    return { files, compiled, captures, hasCapturedRows: false };
  const withRows = [...replaceFiles(files, []), ...rowFiles(folder, files, compiled)].filter(
    ({ path }, index, all) => all.findLastIndex((other) => other.path === path) === index,
  );
  const said = 'does not match its captures; adapt it with "svc worlds schema reconcile --write"';
  const served = compile(folder, withRows, said);
  return { files: withRows, compiled: served, captures, hasCapturedRows: true };
};
