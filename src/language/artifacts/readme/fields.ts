/**
 * Lists the fields of an entity's rows, each followed by its inner fields. Definitions may refer to one another in
 * cycles and multiply, so the depth and the number of inner fields are limited.
 */
import type { Contract, EntityContract, FieldPath } from '../../contract.ts';
import { followReference } from '../../openapi/source.ts';
import type { Analysis, JsonType } from '../../schema/analysis.ts';

export type DescribedField = {
  /** Path of the field; `*` means any item of a list. */
  path: FieldPath;
  schemas: unknown[];
  isRequired: boolean;
};

export type FieldSource = { analysis: Analysis; definitions: Contract['definitions'] };

const deepest = 5;

/** Returns the types of a value except null; `number` includes `integer`. */
export const typesWithoutNull = (
  { analysis }: FieldSource,
  schemas: readonly unknown[],
): JsonType[] => {
  const types = analysis.types(schemas);
  return [...types].filter(
    (type) => type !== 'null' && !(type === 'integer' && types.has('number')),
  );
};

/** Returns the schemas of a list's items. */
export const itemsOf = ({ analysis }: FieldSource, schemas: readonly unknown[]): unknown[] => [
  ...new Set(schemas.flatMap((schema) => analysis.at(schema, ['0']))),
];

const propertiesOf = (
  { analysis }: FieldSource,
  schemas: readonly unknown[],
): Map<string, unknown[]> => {
  const all = new Map<string, unknown[]>();
  for (const schema of schemas) {
    for (const [name, parts] of analysis.properties(schema)) {
      all.set(name, [...(all.get(name) ?? []), ...parts]);
    }
  }
  return all;
};

/** Returns the direct and the inner fields of an entity; `isComplete` is true if no field was left out. */
export const describeFields = (
  source: FieldSource,
  entity: EntityContract,
  mostInnerFields: number,
): { fields: DescribedField[]; isComplete: boolean } => {
  const fields: DescribedField[] = [];
  let innerFields = 0;

  /** Adds the properties of an object. `chain` lists the enclosing objects, which are not described again. */
  const addProperties = (
    schemas: readonly unknown[],
    above: FieldPath,
    chain: readonly object[],
  ): void => {
    const here = schemas.map((schema) => followReference(schema, source.definitions));
    if (above.length >= deepest || here.some((schema) => chain.includes(schema))) return;
    const isRequired = (name: string): boolean =>
      here.every(({ required }) => Array.isArray(required) && required.includes(name));
    for (const [name, parts] of propertiesOf(source, schemas)) {
      if (above.length > 0) innerFields += 1;
      if (innerFields > mostInnerFields && above.length > 0) return;
      const path = [...above, name];
      fields.push({ path, schemas: parts, isRequired: isRequired(name) });
      addInside(parts, path, [...chain, ...here]);
    }
  };

  const addInside = (
    schemas: readonly unknown[],
    path: FieldPath,
    chain: readonly object[],
  ): void => {
    if (path.length >= deepest) return;
    const types = typesWithoutNull(source, schemas);
    if (types.length > 2 || innerFields > mostInnerFields) return;
    if (types.includes('object')) addProperties(schemas, path, chain);
    if (types.includes('array')) addInside(itemsOf(source, schemas), [...path, '*'], chain);
  };

  addProperties([entity.schema], [], []);
  return { fields, isComplete: innerFields <= mostInnerFields };
};
