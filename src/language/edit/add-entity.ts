/**
 * Adds an entity to `schema/world.json`. The edit is applied to a copy, and the compiler checks names and keys there.
 * If the edit would introduce new problems, it is refused.
 */

import { toPointer } from '#domain/json.ts';
import type { TreeFile } from '#domain/world.ts';
import type { JsonSchema } from '../contract.ts';
import { worldFile } from '../files/world-json.ts';
import type { Problem } from '../problem.ts';
import { suggestName } from '../read/suggest.ts';
import type { EditResult } from './change.ts';
import { createJudge, placeUnedited } from './new-problems.ts';
import { readWorldDocument, writeEntities } from './world-document.ts';

/** Types in which a field may be declared: a type of JSON, or a text in one of the usual formats. */
export const fieldTypes = [
  'string',
  'integer',
  'number',
  'boolean',
  'object',
  'array',
  'date-time',
  'date',
  'uuid',
  'uri',
  'email',
] as const;

/** Type of the new field, one of `fieldTypes`; other values are refused. */
type FieldType = string;

export type NewField = {
  name: string;
  type: FieldType;
  /** True if the field may be null; the default is false. */
  nullable?: boolean;
  /** True if every row has the field; the default is true. */
  required?: boolean;
};

export type NewEntity = {
  name: string;
  /** Fields in order; by default only the key. */
  fields?: readonly NewField[];
  /** Fields of the primary key; by default `id`. If no field is named `id`, it is added as an integer. */
  primaryKey?: readonly string[];
};

const jsonTypes: ReadonlySet<string> = new Set(fieldTypes.slice(0, 6));

const schemaOf = ({ type, nullable = false }: NewField): JsonSchema => {
  const isFormat = !jsonTypes.has(type);
  const jsonType = isFormat ? 'string' : type;
  return {
    type: nullable ? [jsonType, 'null'] : jsonType,
    ...(isFormat ? { format: type } : {}),
  };
};

const withKey = (fields: readonly NewField[], key: readonly string[] | undefined): NewField[] =>
  key !== undefined || fields.some(({ name }) => name === 'id')
    ? [...fields]
    : [{ name: 'id', type: 'integer' }, ...fields];

const entityOf = (fields: readonly NewField[], primaryKey: readonly string[]): JsonSchema => {
  const required = fields.filter((field) => field.required !== false).map(({ name }) => name);
  return {
    schema: {
      type: 'object',
      additionalProperties: false,
      ...(required.length === 0 ? {} : { required }),
      properties: Object.fromEntries(fields.map((field) => [field.name, schemaOf(field)])),
    },
    primary_key: primaryKey,
  };
};

const fieldProblems = (pointer: string, fields: readonly NewField[]): Problem[] =>
  fields.flatMap(({ name, type }, index): Problem[] => {
    const place = { file: worldFile, pointer: `${pointer}/schema/properties${toPointer([name])}` };
    if (fields.findIndex((field) => field.name === name) < index) {
      const message = `the field "${name}" is given twice`;
      return [{ ...place, code: 'duplicate', message }];
    }
    if (fieldTypes.some((known) => known === type)) return [];
    const message = `the field "${name}" cannot have the type "${type.slice(0, 100)}"`;
    const hint = suggestName(type, fieldTypes) ?? '';
    return [{ ...place, code: 'bad_value', message, hint }];
  });

/** Adds the entity after the existing entities. */
export const addEntity = (
  files: readonly TreeFile[],
  { name, fields: given = [], primaryKey }: NewEntity,
): EditResult => {
  const read = readWorldDocument(files);
  if (!read.ok) return read;
  const { document } = read;
  const pointer = toPointer(['x-svc', 'entities', name]);
  if (Object.hasOwn(document.entities, name)) {
    const message = `the world already has an entity "${name}"`;
    const hint = 'choose another name, or remove the existing entity first';
    const problem = { file: worldFile, pointer, code: 'entity_exists', message, hint };
    return { ok: false, problems: placeUnedited([problem], files, worldFile) };
  }
  const fields = withKey(given, primaryKey);
  const faults = fieldProblems(pointer, fields);
  if (faults.length > 0) {
    return { ok: false, problems: placeUnedited(faults, files, worldFile) };
  }
  const entity = entityOf(fields, primaryKey ?? ['id']);
  const { file, tree } = writeEntities(files, document, { ...document.entities, [name]: entity });
  const problems = createJudge(files, worldFile).added(tree);
  if (problems.length > 0) return { ok: false, problems };
  const reason = `the entity "${name}" is new`;
  return {
    ok: true,
    files: [file],
    changes: [{ file: worldFile, pointer, kind: 'added', after: entity, reason }],
    notes: [],
  };
};
