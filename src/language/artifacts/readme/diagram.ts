/**
 * Draws the entities and their references as a Mermaid `erDiagram`. The diagram has only names of entities and fields,
 * which are letters, digits and `_`, so no escaping is needed. Entities show the fields of keys and references; if that
 * makes the diagram too long, they show none.
 */
import type { EntityContract } from '../../contract.ts';

/** Maximum length of a diagram that viewers draw, in characters. */
const longestDiagram = 45_000;

type Relationship = EntityContract['relationships'][number];

/** Quotes a name, because an entity may have the name of a keyword. */
const quote = (name: string): string => `"${name}"`;

const typeNames = { TEXT: 'string', INTEGER: 'integer', REAL: 'number' } as const;

/**
 * Returns a field's name in the notation of diagrams, where `pk`, `fk` and `uk` are reserved; a star before such a name
 * escapes it.
 */
const fieldName = (name: string): string => (/^(pk|fk|uk)$/i.test(name) ? `*${name}` : name);

const attributeLines = (entity: EntityContract): string[] => {
  const references = new Set(entity.relationships.flatMap(({ fields }) => fields));
  const uniques = new Set(
    entity.unique.flatMap(([path = [], ...others]) =>
      others.length === 0 && path.length === 1 ? path : [],
    ),
  );
  const types = new Map(entity.columns.map(({ name, type }) => [name, typeNames[type]]));
  const keys = (field: string): string[] => [
    ...(entity.primaryKey.includes(field) ? ['PK'] : []),
    ...(references.has(field) ? ['FK'] : []),
    ...(uniques.has(field) ? ['UK'] : []),
  ];
  const shown = new Set([...entity.primaryKey, ...references, ...uniques]);
  return [...shown].map(
    (field) => `    ${types.get(field) ?? 'any'} ${fieldName(field)} ${keys(field).join(', ')}`,
  );
};

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((field) => b.includes(field));

/** Returns true if at most one row can have the same values in these fields. */
const isUnique = (entity: EntityContract, fields: readonly string[]): boolean =>
  isSame(entity.primaryKey, fields) ||
  entity.unique.some(
    (list) =>
      list.every((path) => path.length === 1) &&
      isSame(
        list.map(([name = '']) => name),
        fields,
      ),
  );

const relationshipLine = (
  entity: EntityContract,
  { fields, target }: Relationship,
  isAlwaysSet: boolean,
): string => {
  const parent = isAlwaysSet ? '||' : '|o';
  const children = isUnique(entity, fields) ? 'o|' : 'o{';
  return `  ${quote(target)} ${parent}--${children} ${quote(entity.name)} : ${quote(fields.join(', '))}`;
};

/** Function that returns true if a row always has a value in a field. */
type AlwaysSet = (entity: EntityContract, field: string) => boolean;

const draw = (
  entities: readonly EntityContract[],
  isAlwaysSet: AlwaysSet,
  withFields: boolean,
): string => {
  const boxes = entities.flatMap((entity) =>
    withFields
      ? [`  ${quote(entity.name)} {`, ...attributeLines(entity), '  }']
      : [`  ${quote(entity.name)}`],
  );
  const lines = entities.flatMap((entity) =>
    entity.relationships.map((relationship) =>
      relationshipLine(
        entity,
        relationship,
        relationship.fields.every((field) => isAlwaysSet(entity, field)),
      ),
    ),
  );
  return ['erDiagram', ...boxes, ...lines].join('\n');
};

/** Returns the diagram's text; undefined if it is too long even without fields. */
export const relationshipDiagram = (
  entities: readonly EntityContract[],
  isAlwaysSet: AlwaysSet,
): string | undefined => {
  for (const withFields of [true, false]) {
    const text = draw(entities, isAlwaysSet, withFields);
    if (text.length <= longestDiagram) return text;
  }
  return undefined;
};
