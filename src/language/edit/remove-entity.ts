/**
 * Removes an entity from `schema/world.json` if nothing refers to the entity. References are found by compiling the
 * tree without the entity: every place that names the entity then has a problem, which is reported as a use. Unused
 * definitions stay, because the author may need them.
 */

import { own, toPointer } from '#domain/json.ts';
import type { TreeFile } from '#domain/world.ts';
import { worldFile } from '../files/world-json.ts';
import { type Problem, sortProblems } from '../problem.ts';
import { suggestName } from '../read/suggest.ts';
import { isTable, type Table } from '../read/values.ts';
import type { Change, EditResult } from './change.ts';
import { createJudge, type Judge, placeUnedited } from './new-problems.ts';
import { describeReferences, mentioningFiles } from './references.ts';
import { describePart, findUses, namesOf, removeUses, type Use, whereIs } from './remove-uses.ts';
import { readWorldDocument, type WorldDocument, writeEntities } from './world-document.ts';

const pointerOf = (name: string): string => toPointer(['x-svc', 'entities', name]);

/** Codes of problems because of which a file cannot be read, so that its references are unknown. */
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

/** Returns the entities without their relationships to the named entity. */
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
 * Returns the problems that the removal would cause. If a relationship of the data model is dangling, faults of queries
 * over its tables are not reported, so the tree is compiled again without those relationships.
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
  const mentioning = mentioningFiles([name], files);
  if (mentioning.length === 0) return [];
  const paths = mentioning.map(({ path }) => path).join(', ');
  return [
    `"${name}" is written in ${paths}; uses of the name there are checked only where a call of the store has it as a literal`,
  ];
};

type Found =
  | { ok: true; document: WorldDocument; rest: Table; judge: Judge }
  | { ok: false; problems: Problem[] };

/** Finds the entity in a readable tree; returns the problems if any prevents its removal. */
const findEntity = (files: readonly TreeFile[], name: string): Found => {
  const read = readWorldDocument(files);
  if (!read.ok) return read;
  const { document } = read;
  if (!Object.hasOwn(document.entities, name)) {
    const hint = suggestName(name, Object.keys(document.entities));
    const message = `the world has no entity "${name}"`;
    const problem = { file: worldFile, pointer: pointerOf(name), code: 'unknown_entity', message };
    const hinted = hint === undefined ? problem : { ...problem, hint };
    return { ok: false, problems: placeUnedited([hinted], files, worldFile) };
  }
  const judge = createJudge(files, worldFile);
  const unread = judge.before().filter(({ code }) => unreadableCodes.has(code));
  if (unread.length > 0) return { ok: false, problems: unread };
  return { ok: true, document, rest: without(document.entities, name), judge };
};

/** Removes the entity; if anything refers to it, returns all references as problems. */
export const removeEntity = (files: readonly TreeFile[], name: string): EditResult => {
  const found = findEntity(files, name);
  if (!found.ok) return found;
  const { document, rest, judge } = found;
  const problems = findReferences(files, document, rest, name, judge);
  if (problems.length > 0) return { ok: false, problems };
  const reason = `nothing refers to the entity "${name}"`;
  return {
    ok: true,
    files: [writeEntities(files, document, rest).file],
    changes: [
      {
        file: worldFile,
        pointer: pointerOf(name),
        kind: 'removed',
        before: own(document.entities, name),
        reason,
      },
    ],
    notes: notesOf(name, files),
  };
};

/**
 * Maximum number of rounds. Each round removes what the previous round left dangling, for example a tool after its
 * route.
 */
const mostRounds = 20;

type Freed = { tree: TreeFile[]; uses: Use[]; names: string[] };

/** Returns true for a code file. Only the author changes code; a note names the files that mention the entity. */
const isCode = (file: string): boolean => /\.(?:py|ts)$/.test(file);

/** Returns the tree without everything that refers to the entity; returns the problems if any prevents it. */
const freeOf = (start: readonly TreeFile[], judge: Judge): Freed | { left: Problem[] } => {
  let tree = [...start];
  const uses: Use[] = [];
  const names: string[] = [];
  for (let round = 0; round < mostRounds; round += 1) {
    const problems = judge.added(tree).filter(({ file }) => !isCode(file));
    if (problems.length === 0) return { tree, uses, names };
    const found = findUses(tree, problems);
    const next = found.left.length === 0 ? removeUses(tree, found.uses) : undefined;
    if (next === undefined) return { left: found.left.length === 0 ? problems : found.left };
    names.push(...namesOf(tree, found.uses));
    uses.push(...found.uses);
    tree = next;
  }
  return { left: judge.added(tree) };
};

const isSameFile = (one: TreeFile, other: TreeFile | undefined): boolean =>
  other !== undefined && Buffer.compare(one.content, other.content) === 0;

/**
 * Removes the entity with its rows, routes, tools, tasks and everything else that names it. If a reference remains that
 * only the author can change, the removal is refused, and the message names the reference. It is also refused if the
 * tree already has problems outside its code.
 */
export const removeEntityWithUses = (files: readonly TreeFile[], name: string): EditResult => {
  const found = findEntity(files, name);
  if (!found.ok) return found;
  const { document, rest, judge } = found;
  const wrong = judge.before().filter(({ file }) => !isCode(file));
  if (wrong.length > 0) return { ok: false, problems: wrong };
  const freed = freeOf(writeEntities(files, document, rest).tree, judge);
  if ('left' in freed) {
    return { ok: false, problems: describeReferences(name, sortProblems(freed.left), files) };
  }
  const { tree, uses, names } = freed;
  const before = new Map(files.map((file) => [file.path, file]));
  const after = new Set(tree.map(({ path }) => path));
  const reason = `it belongs to the entity "${name}", which is removed`;
  return {
    ok: true,
    files: tree.filter((file) => !isSameFile(file, before.get(file.path))),
    removed: files.map(({ path }) => path).filter((path) => !after.has(path)),
    changes: [
      {
        file: worldFile,
        pointer: pointerOf(name),
        kind: 'removed',
        before: own(document.entities, name),
        reason: 'the removal of the entity was requested',
      },
      ...uses.map((use): Change => ({ ...whereIs(use), kind: 'removed', reason })),
    ],
    notes: [
      ...uses.flatMap((use) => {
        const text = describePart(use);
        return text === undefined ? [] : [`removed with the entity: ${text}`];
      }),
      ...mentioningFiles([...new Set([name, ...names])], tree).map(
        (file) =>
          `${file.path} still mentions "${file.names.join('", "')}": change it, or delete the file`,
      ),
    ],
  };
};
