/**
 * Works on the rows of a tree before its world exists: converts the rows of captures for an import, checks captures
 * against the contract, and writes rows into the tree's own files. All rows are user input.
 */
import { createShaping, type ShapeCounts } from '#data/formats/shape-rows.ts';
import type { ImportMode } from '#domain/batch.ts';
import { toPointer } from '#domain/json.ts';
import type { TreeFile } from '#domain/world.ts';
import { redactRows } from '#language/capture/redacted-rows.ts';
import { compileTree, replaceFiles } from '#language/compile/compile.ts';
import type { Contract, Row } from '#language/contract.ts';
import { extractCaptures } from '#language/edit/reconcile/extract-captures.ts';
import { textFile } from '#language/edit/tree-text.ts';
import type { Problem } from '#language/problem.ts';
import type { RedactionMode } from '#language/redaction-modes.ts';
import { createShapeChecker } from '#language/schema/checkers.ts';

type Files = readonly TreeFile[];
type Refused = { ok: false; problems: Problem[] };

type Ingested = {
  contract: Contract;
  rows: Map<string, Row[]>;
  counts: ShapeCounts;
  unknown: string[];
};

/**
 * Reads the rows of captures, redacted by the policy of the world. With `keep`, fields that no entity has are kept as
 * well.
 */
const shapeCaptures = (files: Files, otherFields?: 'keep'): ({ ok: true } & Ingested) | Refused => {
  const compiled = compileTree(files);
  if (!compiled.ok) return compiled;
  const extracted = extractCaptures(files);
  if (!extracted.ok) return extracted;
  const { contract } = compiled;
  const { shape, counts, unknown } = createShaping(contract, contract.redact, otherFields);
  const rows = new Map<string, Row[]>();
  for (const { entity, rows: found, read, preserved } of extracted.entities) {
    counts.read += read;
    counts.rows += found.length;
    const shaped = found.map((row) => shape(entity, row, preserved));
    rows.set(entity, [...(rows.get(entity) ?? []), ...shaped]);
  }
  return { ok: true, contract, rows, counts, unknown: [...unknown] };
};

export type IngestedRows =
  | { ok: true; rowsJson: string; counts: ShapeCounts & { unknown: string[] } }
  | Refused;

/** Returns the rows of captures in the format of `svc worlds data extract`. */
export const ingestTree = (files: Files): IngestedRows => {
  const shaped = shapeCaptures(files);
  if (!shaped.ok) return shaped;
  const { rows, counts, unknown } = shaped;
  return {
    ok: true,
    rowsJson: JSON.stringify(Object.fromEntries(rows)),
    counts: { ...counts, unknown },
  };
};

/** Captured row that does not fit its entity. */
export type Misfit = { entity: string; index: number; pointer: string; message: string };

export type CaptureFit =
  | {
      ok: true;
      fidelity: number;
      entities: { entity: string; rows: number; fitting: number }[];
      misfits: Misfit[];
    }
  | Refused;

const mostMisfits = 200;

/**
 * Counts the captured rows that fit the contract without a change. A row with a field that its entity does not have is
 * a misfit.
 */
export const fitCaptures = (files: Files): CaptureFit => {
  const shaped = shapeCaptures(files, 'keep');
  if (!shaped.ok) return shaped;
  const checker = createShapeChecker(shaped.contract);
  const misfits: Misfit[] = [];
  const entities = [...shaped.rows].map(([entity, rows]) => {
    let fitting = 0;
    for (const [index, row] of rows.entries()) {
      const problems = checker.check(entity, row);
      if (problems.length === 0) fitting += 1;
      for (const { pointer, detail } of problems) {
        if (misfits.length < mostMisfits) misfits.push({ entity, index, pointer, message: detail });
      }
    }
    return { entity, rows: rows.length, fitting };
  });
  const total = entities.reduce((sum, { rows }) => sum + rows, 0);
  const fitting = entities.reduce((sum, one) => sum + one.fitting, 0);
  const fidelity = total === 0 ? 0 : Math.floor((fitting / total) * 10_000) / 100;
  return { ok: true, fidelity, entities, misfits };
};

export type ImportedRows =
  | { ok: true; files: TreeFile[]; counts: Record<string, number> }
  | Refused;

const refuse = (path: (string | number)[], message: string): Refused => ({
  ok: false,
  problems: [{ file: '', pointer: toPointer(path), code: 'invalid_request', message }],
});

/**
 * Parses a file of rows, which is JSON, or has one JSON object on each line. Returns a message if the file is neither.
 */
const parseFile = ({ path, content }: TreeFile): Row[] | string => {
  const text = Buffer.from(content).toString();
  try {
    const value: unknown = path.endsWith('.json')
      ? JSON.parse(text)
      : text
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map((line) => JSON.parse(line) as unknown);
    if (
      Array.isArray(value) &&
      value.every((row) => typeof row === 'object' && row !== null && !Array.isArray(row))
    ) {
      return value as Row[];
    }
    return 'contains no list of rows';
  } catch {
    return 'is not JSON';
  }
};

const keyOf = (row: Row, names: readonly string[]): string =>
  JSON.stringify(names.map((name) => row[name]));

const merge = (
  known: readonly Row[],
  given: readonly Row[],
  key: readonly string[],
  mode: ImportMode,
): Row[] => {
  if (mode === 'replace') return [...given];
  if (mode === 'append') return [...known, ...given];
  const byKey = new Map(known.map((row) => [keyOf(row, key), row]));
  for (const row of given) byKey.set(keyOf(row, key), row);
  return [...byKey.values()];
};

/** Returns the files of `data/` with the given rows added, if the tree compiles with them. */
export const importIntoTree = (
  files: Files,
  rowFiles: Files,
  { mode, redact }: { mode: ImportMode; redact: RedactionMode },
): ImportedRows => {
  const compiled = compileTree(files);
  if (!compiled.ok) return compiled;
  const { contract, baseRows } = compiled;
  const given: Record<string, Row[]> = {};
  for (const [index, file] of rowFiles.entries()) {
    const [, entity] =
      /^(?:.*\/)?([A-Za-z][A-Za-z0-9_]*)\.(?:json|jsonl|ndjson)$/.exec(file.path) ?? [];
    const at = ['rows', index];
    if (entity === undefined || !contract.entities.some(({ name }) => name === entity)) {
      const names = contract.entities.map(({ name }) => name).join(', ');
      return refuse(
        [...at, 'path'],
        `${file.path} must be named after an entity (${names}) and end in .json or .jsonl`,
      );
    }
    const rows = parseFile(file);
    if (typeof rows === 'string') return refuse([...at, 'content'], `${file.path} ${rows}`);
    given[entity] = [...(given[entity] ?? []), ...rows];
  }
  if (redact !== 'off' && contract.redact === null && contract.vendor === null) {
    return refuse(['redact'], `"${redact}" needs a connector.toml, and the tree has none`);
  }
  const kept =
    redact === 'off' ? { ok: true as const, rows: given } : redactRows(contract, given, redact);
  if (!kept.ok) {
    const problems = kept.problems.map(({ path, message }) => ({
      ...{ file: '', pointer: toPointer(['rows', ...path]), code: 'invalid_request', message },
    }));
    return { ok: false, problems };
  }
  const written = Object.entries(kept.rows).map(([entity, rows]) => {
    const key = contract.entities.find(({ name }) => name === entity)?.primaryKey ?? [];
    const all = merge(baseRows[entity] ?? [], rows, key, mode);
    return textFile(`data/${entity}.json`, `${JSON.stringify(all, null, 2)}\n`);
  });
  const names = new Set(written.map(({ path }) => path));
  const tree = [...replaceFiles(files, []).filter(({ path }) => !names.has(path)), ...written];
  const after = compileTree(tree);
  if (!after.ok) return after;
  const counts = Object.entries(after.baseRows).map(([entity, rows]) => [entity, rows.length]);
  return { ok: true, files: written, counts: Object.fromEntries(counts) };
};
