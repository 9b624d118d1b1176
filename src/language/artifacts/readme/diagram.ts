/**
 * The entities and their references as a Mermaid `erDiagram`. It holds names of entities and fields
 * alone, which are letters, digits and `_`, so nothing in it can be taken for anything else. Entities
 * show the fields that keys and references are made of; where that is too long to be drawn, none.
 */
import type { EntityContract } from '../../contract.ts';

/** What viewers draw of one diagram, in characters. */
const longestDiagram = 45_000;

type Relationship = EntityContract['relationships'][number];

/** Words of the notation are names too: quoted, each is a name. */
const quote = (name: string): string => `"${name}"`;

const typeNames = { TEXT: 'string', INTEGER: 'integer', REAL: 'number' } as const;

/** The marks of keys are no names of fields in the notation; a star before them makes them such. */
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

/** Whether at most one row can have the same values in these fields. */
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

/** Says whether a row always has a value in a field. */
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

/** The diagram's text; undefined when there is too much to be drawn. */
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
