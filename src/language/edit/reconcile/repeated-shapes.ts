/**
 * Finds schemas of tools that copy the row schema of an entity, field by field, instead of referring to it. If a copy
 * did not change with the row schema, the answer of a tool that returns a row would be rejected. Copies are found
 * before the entities are fitted, and then get the same changes.
 */

import { isDeepStrictEqual } from 'node:util';
import { own } from '#domain/json.ts';
import { worldFile } from '../../files/world-json.ts';
import { isTable } from '../../read/values.ts';
import { keywords, subschemasOf } from '../../schema/keywords.ts';
import type { ChangeLog } from './change-log.ts';
import { type Documents, isNode, type Located, type Node, type Path } from './documents.ts';
import { isNote } from './relax.ts';

/** A copy: its place, and the row schemas to which it is equal. */
type Repeat = { node: Node; path: Path; of: RowShape[] };

/** Row schema of an entity: its value before reconciling, and its node. */
type RowShape = { entity: string; before: Node; node: Node };

/** Minimum number of fields of a copy, because schemas with a single field may be equal by chance. */
const fewestFields = 2;

/** Returns a text that is the same for schemas with the same meaning; annotations are ignored. */
const meaning = (value: unknown, isSchema = true): string => {
  if (Array.isArray(value)) return `[${value.map((part) => meaning(part)).join()}]`;
  if (!isTable(value)) return JSON.stringify(value) ?? 'undefined';
  const parts = Object.keys(value)
    .filter((key) => !isSchema || !isNote(key))
    .sort()
    .map((key) => {
      const held = value[key];
      if (isSchema && key === 'required' && Array.isArray(held)) {
        return `"required":${JSON.stringify([...held].sort())}`;
      }
      const isMap = isSchema && keywords.get(key)?.holds === 'map';
      return `${JSON.stringify(key)}:${meaning(held, !isMap)}`;
    });
  return `{${parts.join()}}`;
};

const fieldsOf = (node: Node): Node | undefined => {
  const properties = own(node, 'properties');
  if (!isTable(properties) || Object.keys(properties).length < fewestFields) return undefined;
  return properties as Node;
};

/** Returns true if both schemas have the same fields; they may differ in which fields are required. */
const repeats = (node: Node, other: Node): boolean => {
  const [fields, those] = [fieldsOf(node), fieldsOf(other)];
  if (fields === undefined || those === undefined) return false;
  return meaning(fields, false) === meaning(those, false);
};

/**
 * Returns the row schema of an entity, after following all references, if it is in the world's own file; else
 * undefined.
 */
const rowShape = (documents: Documents, entity: string): RowShape | undefined => {
  let at: Located = { file: worldFile, node: documents.entitySchema(entity) };
  while (isNode(at.node)) {
    const target = documents.resolve(at.file, at.node.$ref);
    if (target === undefined) {
      if (at.file !== worldFile) return undefined;
      return { entity, before: structuredClone(at.node), node: at.node };
    }
    at = target;
  }
  return undefined;
};

/**
 * Returns the nodes of the world's file that apply to rows: the row schemas of entities, and the definitions to which
 * they refer.
 */
const nodesOfRows = (documents: Documents, entities: readonly string[]): Set<Node> => {
  const found = new Set<Node>();
  const visit = ({ file, node }: Located): void => {
    if (!isNode(node) || found.has(node)) return;
    found.add(node);
    const target = documents.resolve(file, node.$ref);
    if (target !== undefined) visit(target);
    for (const { schema } of subschemasOf(node)) visit({ file, node: schema });
  };
  for (const entity of entities) visit({ file: worldFile, node: documents.entitySchema(entity) });
  return found;
};

/** Finds the copies of row schemas. They are searched among tools, and among definitions that no row uses. */
export const findRepeats = (documents: Documents, entities: readonly string[]): Repeat[] => {
  const shapes = entities.flatMap((entity) => rowShape(documents, entity) ?? []);
  const ofRows = nodesOfRows(documents, entities);
  return [...documents.places()].flatMap(([node, { file, path }]): Repeat[] => {
    if (file !== worldFile || ofRows.has(node)) return [];
    const of = shapes.filter(({ before }) => repeats(node, before));
    return of.length === 0 ? [] : [{ node, path, of }];
  });
};

const withNotes = (schema: unknown, known: unknown): unknown => {
  if (!isTable(schema) || !isTable(known)) return structuredClone(schema);
  const notes = Object.entries(known).filter(([keyword]) => isNote(keyword));
  const rest = Object.entries(schema).filter(([keyword]) => !isNote(keyword));
  return structuredClone(Object.fromEntries([...notes, ...rest]));
};

/** Returns the fields of the row schema, with the annotations of the copy's fields. */
const followFields = (fields: Node, after: Node): Node =>
  Object.fromEntries(
    Object.entries(after).map(([name, schema]) => {
      const known = own(fields, name);
      return [name, meaning(known) === meaning(schema) ? known : withNotes(schema, known)];
    }),
  );

const namesIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/**
 * Returns the new value of a keyword in a copy, after the keyword's value in the row schema has changed from `before`
 * to `after`.
 */
const followKeyword = (repeat: Node, keyword: string, before: Node, after: Node): unknown => {
  const [mine, was, is] = [repeat[keyword], before[keyword], after[keyword]];
  if (keyword === 'properties') return followFields(mine as Node, is as Node);
  const ofKeyword = (value: unknown): string => meaning({ [keyword]: value });
  if (ofKeyword(mine) === ofKeyword(was)) return structuredClone(is);
  if (keyword !== 'required') return mine;
  const released = namesIn(was).filter((name) => !namesIn(is).includes(name));
  return namesIn(mine).filter((name) => !released.includes(name));
};

const follow = (
  { node, path }: Repeat,
  { entity, before, node: after }: RowShape,
  log: ChangeLog,
) => {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const keyword of names) {
    if (isNote(keyword) || isDeepStrictEqual(before[keyword], after[keyword])) continue;
    const value = followKeyword(node, keyword, before, after);
    if (isDeepStrictEqual(value, node[keyword])) continue;
    const reason = `the schema repeats the row shape of ${entity}`;
    if (keyword === 'properties') {
      const [known, fields] = [node.properties as Node, value as Node];
      for (const name of new Set([...Object.keys(known), ...Object.keys(fields)])) {
        if (!isDeepStrictEqual(known[name], fields[name])) {
          log.note(worldFile, [...path, keyword, name], reason);
        }
      }
    } else log.note(worldFile, [...path, keyword], reason);
    const isGone = value === undefined || (keyword === 'required' && namesIn(value).length === 0);
    if (isGone) delete node[keyword];
    else node[keyword] = value;
  }
};

/** Applies the changes of row schemas to their copies. Returns a note for each copy that equals several row schemas. */
export const followRepeats = (repeats: readonly Repeat[], log: ChangeLog): string[] =>
  repeats.flatMap((repeat) => {
    const changed = repeat.of.filter(({ before, node }) => meaning(before) !== meaning(node));
    const [shape] = changed;
    if (shape === undefined) return [];
    if (repeat.of.length === 1) {
      follow(repeat, shape, log);
      return [];
    }
    const names = repeat.of.map(({ entity }) => entity).join(' or ');
    const place = repeat.path.join('/');
    return [`${worldFile}: ${place} repeats the row shape of ${names}, and is not changed`];
  });
