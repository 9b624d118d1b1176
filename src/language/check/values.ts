/** Checks single values that a world's files hold for a field of an entity. */
import type { EntityContract } from '../contract.ts';
import type { Place } from '../read/place.ts';
import { isTable } from '../read/values.ts';
import type { JsonType } from '../schema/analysis.ts';
import { type CheckValue, createShapes } from '../schema/shapes.ts';
import type { Field, Model } from './model.ts';

/** Refuses a value that a field cannot have. Parts that it leaves out are not missed. */
export type FieldValues = {
  check(place: Place, entity: EntityContract, field: Field, value: unknown): void;
};

const typesOfValue = (value: unknown): readonly JsonType[] => {
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer'] : ['number'];
  if (typeof value === 'boolean') return ['boolean'];
  if (typeof value === 'string') return ['string'];
  if (value === null) return ['null'];
  return Array.isArray(value) ? ['array'] : ['object'];
};

const createFieldShapes = ({ definitions, entities }: Model): ReadonlyMap<string, CheckValue> => {
  const schemas = [...entities.values()].flatMap(({ name, schema }) =>
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
export const createFieldValues = (model: Model): FieldValues => {
  let shapes: ReadonlyMap<string, CheckValue> | undefined;
  return {
    check(place, entity, { path, schemas }, value) {
      const types = model.types(schemas);
      if (types === undefined) return;
      const name = path.join('.');
      if (!typesOfValue(value).some((type) => types.has(type))) {
        const message = `${entity.name}.${name} is ${[...types].join(' or ')}, never ${JSON.stringify(value)}`;
        place.refuse('type_mismatch', message);
        return;
      }
      if (path.length > 1) return;
      shapes ??= createFieldShapes(model);
      const problems = shapes.get(`${entity.name}.${name}`)?.(value) ?? [];
      for (const { pointer, detail } of problems) {
        if (detail === 'is missing') continue;
        place.refuse('type_mismatch', `${entity.name}.${name}${pointer} ${detail}`);
      }
    },
  };
};
