/** The rows that a tree's captures hold, of each key the one of the last file. */

import type { TreeFile } from '#domain/world.ts';
import type { Row } from '../../contract.ts';
import type { Problem } from '../../problem.ts';
import { createProblems } from '../../read/place.ts';
import { openTree } from '../../read/tree.ts';
import { readCapturedRows } from './captured-rows.ts';

/** Its rows, and how many were read: of those of one key all but one are left out. */
type CapturedEntity = { entity: string; rows: Row[]; read: number };

type Extracted =
  | {
      ok: true;
      entities: CapturedEntity[];
    }
  | { ok: false; problems: Problem[] };

/** Reads them, or tells why they cannot be read. */
export const extractCaptures = (files: readonly TreeFile[]): Extracted => {
  const problems = createProblems();
  const tree = openTree(files, problems);
  if (tree === undefined) return { ok: false, problems: problems.list() };
  const read = readCapturedRows(tree, problems);
  if (!read.ok) return read;
  const { captured, model } = read.rows;
  const found = new Map<string, { byKey: Map<string, Row>; read: number }>();
  for (const { row, source } of captured) {
    const { byKey, read } = found.get(source.entity) ?? { byKey: new Map<string, Row>(), read: 0 };
    found.set(source.entity, { byKey, read: read + 1 });
    const key = model.entities.get(source.entity)?.primaryKey ?? [];
    byKey.set(JSON.stringify(key.map((name) => row[name])), row);
  }
  const entities = [...found].map(([entity, { byKey, read }]) => ({
    entity,
    rows: [...byKey.values()],
    read,
  }));
  return { ok: true, entities };
};
