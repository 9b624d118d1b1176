/**
 * Fits the data model of a tree to the vendor's real answers: changes `schema/world.json`, and the sibling files to
 * which it refers, so that every row of `captures/` fits its entity. Fields without captured values stay, and so does
 * everything that no row violates; annotations and order are preserved. Schemas of tools that repeat a row schema are
 * changed with it.
 */
import { own } from '#domain/json.ts';
import type { TreeFile } from '#domain/world.ts';
import { captureFolder } from '../../files/capture-json.ts';
import { worldFile } from '../../files/world-json.ts';
import { createProblems } from '../../read/place.ts';
import { openTree } from '../../read/tree.ts';
import { isTable } from '../../read/values.ts';
import type { Change, EditResult } from '../change.ts';
import { rewriteJson } from '../json-text.ts';
import { createJudge, placeUnedited } from '../new-problems.ts';
import { editFile, replaceFiles } from '../tree-text.ts';
import { type CapturedRows, readCapturedRows } from './captured-rows.ts';
import { createChangeLog } from './change-log.ts';
import { type Documents, openDocuments } from './documents.ts';
import { fitDocuments } from './fit.ts';
import { notesOf } from './notes.ts';
import { findRepeats, followRepeats } from './repeated-shapes.ts';
import { findUnusable } from './unusable-rows.ts';

type ReconcileResult = EditResult;

const writeDocuments = (files: readonly TreeFile[], { values }: Documents, changed: Set<string>) =>
  [...values]
    .filter(([file]) => changed.has(file))
    .map(([file, value]) => editFile(files, file, (text) => rewriteJson(text, value)).file);

/** Returns the fields that are required now and were not before, by entity. */
const newlyRequired = ({ model }: CapturedRows, documents: Documents): Map<string, string[]> =>
  new Map(
    [...model.entities.values()].map(({ name, schema }): [string, string[]] => {
      const before = isTable(schema.properties) ? schema.properties : {};
      let node = documents.plain({ file: worldFile, node: documents.entitySchema(name) });
      const definitions = documents.definitions();
      while (typeof node.$ref === 'string') {
        node = own(definitions, node.$ref.slice('#/$defs/'.length)) ?? {};
      }
      const required = Array.isArray(node.required) ? node.required.map(String) : [];
      return [name, required.filter((field) => !Object.hasOwn(before, field))];
    }),
  );

/** Returns the paths of the files that the changes concern; `writeDocuments` rewrites those that the tree has. */
const changedFiles = (changes: readonly Change[]): Set<string> =>
  new Set(changes.map(({ file }) => file));

/**
 * Fits the tree's schemas to its captures. Refuses captures that cannot be read, rows that lack their keys or have
 * fields that no entity can have, and a result that would not compile.
 */
export const reconcile = (files: readonly TreeFile[]): ReconcileResult => {
  const problems = createProblems();
  const tree = openTree(files, problems);
  if (tree === undefined) return { ok: false, problems: problems.list() };
  const read = readCapturedRows(tree, problems);
  if (!read.ok) return read;
  const { rows } = read;
  if (tree.paths(captureFolder).length === 0) {
    return { ok: true, files: [], changes: [], notes: [`${captureFolder} has no captures`] };
  }
  const unusable = findUnusable(rows.captured, rows.model);
  if (unusable.length > 0) return { ok: false, problems: unusable };
  const documents = openDocuments(tree);
  const log = createChangeLog(documents);
  const repeats = findRepeats(documents, [...rows.model.entities.keys()]);
  const unfit = fitDocuments({ ...rows, documents, log });
  if (unfit.length > 0) return { ok: false, problems: placeUnedited(unfit, files, worldFile) };
  const left = followRepeats(repeats, log);
  const changes = log.list();
  const changed = writeDocuments(files, documents, changedFiles(changes));
  const notes = [...notesOf(rows, newlyRequired(rows, documents)), ...left];
  if (changed.length === 0) return { ok: true, files: [], changes, notes };
  const broken = createJudge(files, worldFile).added(replaceFiles(files, changed));
  if (broken.length > 0) return { ok: false, problems: broken };
  return { ok: true, files: changed, changes, notes };
};
