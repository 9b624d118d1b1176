/**
 * Removes an entity from `schema/world.json`, once nothing refers to it. What refers to it is found by
 * compiling the tree without it: whatever the language lets name an entity is refused then, and told
 * here with its place. Definitions that nothing uses any more are left, as others may be written for
 * them.
 */

import { own, toPointer } from '#domain/json.ts';
import type { TreeFile } from '#domain/world.ts';
import { worldFile } from '../files/world-json.ts';
import { type Problem, sortProblems } from '../problem.ts';
import { suggestName } from '../read/suggest.ts';
import { isTable, type Table } from '../read/values.ts';
import type { EditResult } from './change.ts';
import { createJudge, type Judge, placeUnedited } from './new-problems.ts';
import { describeReferences, mentioningFiles } from './references.ts';
import { readWorldDocument, type WorldDocument, writeEntities } from './world-document.ts';

/** Problems of files that nothing can be told from, such as whether they refer to an entity. */
const unreadableCodes = new Set([
  'syntax',
  'not_utf8',
  'too_deep',
  'duplicate_key',
  'file_too_large',
  'bad_path',
]);

const without = (table: Table, key: string): Table => {
  const { [key]: _removed, ...rest } = table;
  return rest;
};

const isRelationshipTo = (name: string, relationship: unknown): boolean =>
  isTable(relationship) && own(relationship, 'target') === name;

/** The entities without their relationships to one of them. */
const withoutRelationshipsTo = (entities: Table, name: string): Table =>
  Object.fromEntries(
    Object.entries(entities).map(([key, entity]) => {
      const listed = isTable(entity) ? own(entity, 'relationships') : undefined;
      if (!isTable(entity) || !Array.isArray(listed)) return [key, entity];
      const relationships = listed.filter((item: unknown) => !isRelationshipTo(name, item));
      return [key, { ...entity, relationships }];
    }),
  );

/**
 * What would be wrong without the entity. A data model in which a relationship leads nowhere hides what
 * queries say of its tables, so that is looked for once more without those relationships.
 */
const findReferences = (
  files: readonly TreeFile[],
  document: WorldDocument,
  rest: Table,
  name: string,
  judge: Judge,
): Problem[] => {
  const dangling = judge.added(writeEntities(files, document, rest).tree);
  const detached = withoutRelationshipsTo(rest, name);
  const hidden = judge.added(writeEntities(files, document, detached).tree);
  const known = new Set(dangling.map(({ file, pointer }) => `${file}\n${pointer}`));
  const others = hidden.filter(({ file, pointer }) => !known.has(`${file}\n${pointer}`));
  return describeReferences(name, sortProblems([...dangling, ...others]), files);
};

const notesOf = (name: string, files: readonly TreeFile[]): string[] => {
  const mentioning = mentioningFiles(name, files);
  if (mentioning.length === 0) return [];
  return [
    `"${name}" is written in ${mentioning.join(', ')}; a name that is not given to the store as it is written is not checked`,
  ];
};

/** Removes the entity, or names everything that refers to it. */
export const removeEntity = (files: readonly TreeFile[], name: string): EditResult => {
  const read = readWorldDocument(files);
  if (!read.ok) return read;
  const { document } = read;
  const pointer = toPointer(['x-svc', 'entities', name]);
  if (!Object.hasOwn(document.entities, name)) {
    const hint = suggestName(name, Object.keys(document.entities));
    const message = `the world has no entity "${name}"`;
    const problem = { file: worldFile, pointer, code: 'unknown_entity', message };
    const hinted = hint === undefined ? problem : { ...problem, hint };
    return { ok: false, problems: placeUnedited([hinted], files, worldFile) };
  }
  const rest = without(document.entities, name);
  const judge = createJudge(files, worldFile);
  const unread = judge.before().filter(({ code }) => unreadableCodes.has(code));
  if (unread.length > 0) return { ok: false, problems: unread };
  const problems = findReferences(files, document, rest, name, judge);
  if (problems.length > 0) return { ok: false, problems };
  const reason = `nothing refers to the entity "${name}"`;
  return {
    ok: true,
    files: [writeEntities(files, document, rest).file],
    changes: [
      { file: worldFile, pointer, kind: 'removed', before: own(document.entities, name), reason },
    ],
    notes: notesOf(name, files),
  };
};
