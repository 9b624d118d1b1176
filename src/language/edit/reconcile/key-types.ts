/**
 * Determines the types of keys. A key, and the fields that refer to it, have one type: text or integer. If all values
 * of a key have the other type, the key's type is replaced. It never becomes a choice of both types.
 */

import { own, toPointer } from '#domain/json.ts';
import type { Model } from '../../check/model.ts';
import { worldFile } from '../../files/world-json.ts';
import type { Problem } from '../../problem.ts';
import type { ProblemCode } from '../../read/codes.ts';
import { isTable } from '../../read/values.ts';
import type { JsonType } from '../../schema/analysis.ts';
import { type Documents, isNode, type Located, type Node } from './documents.ts';
import { listIn } from './observe-keywords.ts';
import { replaceKeyType, type Subject } from './relax.ts';

const unusable: ProblemCode = 'unusable_capture';

/** Collects a schema and all other schemas that apply to the same value. */
const collect = ({ file, node }: Located, documents: Documents, nodes: Set<Node>): void => {
  if (!isNode(node) || nodes.has(node)) return;
  nodes.add(node);
  const target = documents.resolve(file, node.$ref);
  if (target !== undefined) collect(target, documents, nodes);
  for (const part of ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listIn(node[keyword]))) {
    collect({ file, node: part }, documents, nodes);
  }
};

/** Returns the schemas of all key fields, and of all fields that refer to keys. */
export const keyNodes = (documents: Documents, model: Model): ReadonlySet<Node> => {
  const nodes = new Set<Node>();
  const places = documents.places();
  for (const { name, primaryKey, relationships } of model.entities.values()) {
    const roots = new Set<Node>();
    collect({ file: worldFile, node: documents.entitySchema(name) }, documents, roots);
    const fields = new Set([...primaryKey, ...relationships.flatMap((each) => each.fields)]);
    for (const root of roots) {
      const file = places.get(root)?.file ?? worldFile;
      const properties = isTable(root.properties) ? root.properties : {};
      for (const field of fields) {
        collect({ file, node: own(properties, field) }, documents, nodes);
      }
    }
  }
  return nodes;
};

/** Returns the types that a key's values have, without null. */
const typesSeen = ({ found }: Subject): JsonType[] =>
  [...found.types.keys()].filter((type) => type !== 'null');

/**
 * Returns the problem of a key that cannot have a single type; undefined if it can. A schema without a type is skipped,
 * because the schemas to which it refers are checked.
 */
export const keyProblem = (subject: Subject): Problem | undefined => {
  const { file, path, found } = subject;
  const types = typesSeen(subject);
  if (found.widened === undefined) return undefined;
  const odd = types.filter((type) => type !== 'string' && type !== 'integer');
  if (types.length <= 1 && odd.length === 0) return undefined;
  const listed = [...found.types]
    .filter(([type]) => types.includes(type))
    .map(([type, { first }]) => `${type} in ${first.file}`)
    .join(', ');
  const message = `a key and the fields that refer to it must have one type, but their values are ${listed}`;
  const hint =
    'capture one of these values under another field name, or drop it in the ingest rules';
  return { file, pointer: toPointer(path), code: unusable, message, hint };
};

/** Replaces the type of a key by the only type that its values have. */
export const settleKeyType = (subject: Subject): void => {
  const { node, found } = subject;
  const [type] = typesSeen(subject);
  if (found.widened === undefined || (type !== 'string' && type !== 'integer')) return;
  replaceKeyType(subject, type);
  const declared = listIn(Array.isArray(node.type) ? node.type : [node.type]);
  if (found.types.has('null') && !declared.includes('null')) return;
  found.widened = undefined;
};
