/** Checks single values that a world's files hold for a field of an entity. */

import { clip } from '#domain/cut.ts';
import type { EntityContract } from '../contract.ts';
import type { Place } from '../read/place.ts';
import { isTable } from '../read/values.ts';
import type { JsonType } from '../schema/analysis.ts';
import { type CheckValue, createShapes } from '../schema/shapes.ts';
import { ledgerEntityContract } from '../sql/ledger-entity.ts';
import type { Field, Model } from './model.ts';

/** Characters shown of a value. */
const longestShown = 200;

/** Values against the fields that they are for. Parts that a value leaves out are not missed. */
export type FieldValues = {
  /** What is wrong with a value that a field cannot have, in sentences; none when it can. */
  faults(entity: EntityContract, field: Field, value: unknown): string[];
  /** Refuses a value that a field cannot have. */
  check(place: Place, entity: EntityContract, field: Field, value: unknown): void;
};

const typesOfValue = (value: unknown): readonly JsonType[] => {
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer'] : ['number'];
  if (typeof value === 'boolean') return ['boolean'];
  if (typeof value === 'string') return ['string'];
  if (value === null) return ['null'];
  return Array.isArray(value) ? ['array'] : ['object'];
};

const createFieldShapes = ({
  definitions,
  entities,
}: Pick<Model, 'definitions' | 'entities'>): ReadonlyMap<string, CheckValue> => {
  const schemas = [...entities.values(), ledgerEntityContract].flatMap(({ name, schema }) =>
    Object.entries(isTable(schema.properties) ? schema.properties : {}).map(
      ([field, part]): [string, Record<string, unknown>] => [
        `${name}.${field}`,
        isTable(part) ? part : {},
      ],
    ),
  );
  return createShapes(definitions, new Map(schemas));
};

/** Top-level fields are held to their whole schema, values further inside to their type. */
export const createFieldValues = (
  model: Pick<Model, 'definitions' | 'entities' | 'types'>,
): FieldValues => {
  let shapes: ReadonlyMap<string, CheckValue> | undefined;
  const faults: FieldValues['faults'] = (entity, { path, schemas }, value) => {
    const types = model.types(schemas);
    if (types === undefined) return [];
    const name = `${entity.name}.${path.join('.')}`;
    if (!typesOfValue(value).some((type) => types.has(type))) {
      return [
        `${name} is ${[...types].join(' or ')}, never ${clip(JSON.stringify(value), longestShown)}`,
      ];
    }
    if (path.length > 1) return [];
    shapes ??= createFieldShapes(model);
    return (shapes.get(name)?.(value) ?? [])
      .filter(({ detail }) => detail !== 'is missing')
      .map(({ pointer, detail }) => `${name}${pointer} ${detail}`);
  };
  return {
    faults,
    check(place, entity, field, value) {
      for (const fault of faults(entity, field, value)) place.refuse('type_mismatch', fault);
    },
  };
};
