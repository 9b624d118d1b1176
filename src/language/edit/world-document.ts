/**
 * Reads `schema/world.json` for edits: its values as written, including annotations; and writes changes into its text.
 */
import { own } from '#domain/json.ts';
import type { TreeFile } from '#domain/world.ts';
import { worldFile } from '../files/world-json.ts';
import type { Problem } from '../problem.ts';
import { createProblems } from '../read/place.ts';
import { openTree } from '../read/tree.ts';
import { isTable, type Table } from '../read/values.ts';
import { rewriteJson } from './json-text.ts';
import { editFile } from './tree-text.ts';

export type WorldDocument = { root: Table; extension: Table; entities: Table };

type WorldDocumentResult =
  | { ok: true; document: WorldDocument }
  | { ok: false; problems: Problem[] };

/**
 * Reads the document; returns the reason if it cannot be edited because it is missing, malformed, or has no table of
 * entities.
 */
export const readWorldDocument = (files: readonly TreeFile[]): WorldDocumentResult => {
  const problems = createProblems();
  const tree = openTree(files, problems);
  const place = tree?.place(worldFile);
  if (tree?.has(worldFile) === false) {
    place?.refuse('missing_file', `a world needs the file ${worldFile}`);
  }
  const root = tree?.authoredJson(worldFile)?.value;
  if (problems.anyBelow((file) => file === worldFile || file === '', [''])) {
    return { ok: false, problems: problems.list() };
  }
  const extension = isTable(root) ? own(root, 'x-svc') : undefined;
  const entities = isTable(extension) ? own(extension, 'entities') : undefined;
  if (isTable(root) && isTable(extension) && isTable(entities)) {
    return { ok: true, document: { root, extension, entities } };
  }
  const message = `${worldFile} has no table "entities" in "x-svc"`;
  place?.at('x-svc', 'entities').refuse('missing_key', message);
  return { ok: false, problems: problems.list() };
};

/** Returns the tree with the document's entities replaced, and the changed file. */
export const writeEntities = (
  files: readonly TreeFile[],
  { root, extension }: WorldDocument,
  entities: Table,
): { file: TreeFile; tree: TreeFile[] } => {
  const value = { ...root, 'x-svc': { ...extension, entities } };
  return editFile(files, worldFile, (text) => rewriteJson(text, value));
};
