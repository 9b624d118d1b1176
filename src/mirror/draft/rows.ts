/** Drafts the first rows from the API's examples. If there are none, invents rows that its schemas allow. */
import { isObject } from '#domain/json.ts';
import type { JsonSchema, Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import { isLosslessValue } from '#language/schema/lossless-values.ts';
import type { Api, Mark } from './api.ts';
import { type DraftEntity, type FoundEntities, typesOf } from './entities.ts';

const madeUp = 3;
const mostRows = 200;

const wordsFor = (name: string, number: number): string =>
  /mail/i.test(name)
    ? `person${number}@example.com`
    : /url|link|href/i.test(name)
      ? `https://example.com/${number}`
      : /(?:_at|At|date|time)$/.test(name)
        ? `2026-01-0${number}T09:00:00Z`
        : `${name} ${number}`;

/** Returns an invented value that a schema allows. */
const makeUp = (schema: JsonSchema, name: string, number: number): unknown => {
  const listed = Array.isArray(schema.enum) ? schema.enum : [];
  if (listed.length > 0) return listed[(number - 1) % listed.length];
  const [type] = typesOf(schema);
  if (type === 'integer' || type === 'number') return number;
  if (type === 'boolean') return number % 2 === 1;
  if (type === 'string') return wordsFor(name, number);
  if (type === 'array') return [];
  if (type !== 'object') return null;
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  return Object.fromEntries(properties.map(([key, inner]) => [key, makeUp(inner, key, number)]));
};

const fits = (schema: JsonSchema, value: unknown): boolean => {
  const types = [schema.type].flat().filter((type) => type !== undefined);
  const isListed = !Array.isArray(schema.enum) || schema.enum.includes(value);
  if (types.length === 0) return true;
  const of = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const isType =
    types.includes(of) || (of === 'number' && types.includes('integer') && Number.isInteger(value));
  if (!isType || !isListed) return false;
  if (of === 'array') {
    const items = (schema.items ?? {}) as JsonSchema;
    return (value as unknown[]).every((item) => fits(items, item));
  }
  if (of !== 'object') return true;
  const row = value as Row;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  return (
    required.every((name) => Object.hasOwn(row, String(name))) &&
    Object.entries(row).every(
      ([name, inner]) => !Object.hasOwn(properties, name) || fits(properties[name] ?? {}, inner),
    )
  );
};

/** Completes a row: if a required value is missing, or does not match its schema, a value is invented. */
const complete = (entity: DraftEntity, given: Row, number: number, unkept: Set<string>): Row => {
  const row: Row = {};
  for (const [name, schema] of Object.entries(entity.properties)) {
    const isKept = !Object.hasOwn(given, name) || isLosslessValue(given[name]);
    if (!isKept) unkept.add(name);
    const isGiven = isKept && Object.hasOwn(given, name) && fits(schema, given[name]);
    if (isGiven) row[name] = given[name];
    else if (entity.required.includes(name)) row[name] = makeUp(schema, name, number);
  }
  return row;
};

const examplesOf = ({ routes }: Api, { byRoute }: FoundEntities, entity: DraftEntity): Row[] =>
  routes.flatMap(({ name, examples, answer }) => {
    const found = byRoute.get(name);
    if (found?.entity !== entity) return [];
    const { under, isList, schema } = found.rows;
    const bodies =
      answer === schema ? examples : [...examples, ...(schema.example === undefined ? [] : [])];
    const rows = bodies.flatMap((body) => valueAtPath(body, under === '' ? [] : [under]) ?? []);
    const inItems = isList && isObject(schema.example) ? [schema.example] : [];
    return [...rows, ...inItems].flat().filter(isObject) as Row[];
  });

/** Drafts rows by entity. References between them lead only to rows of the draft. */
export const draftRows = (api: Api, found: FoundEntities, marks: Mark[]): Map<string, Row[]> => {
  const rows = new Map<string, Row[]>();
  const left = [...found.entities];
  while (left.length > 0) {
    const next = left.findIndex(({ relationships }) =>
      relationships.every(({ target }) => rows.has(target)),
    );
    const [entity] = left.splice(Math.max(0, next), 1);
    if (entity === undefined) break;
    // Of entities that refer to each other in a circle, the first loses its references to those without rows yet.
    if (next === -1)
      entity.relationships = entity.relationships.filter(({ target }) => rows.has(target));
    const examples = examplesOf(api, found, entity);
    const given = examples.length > 0 ? examples : Array.from({ length: madeUp }, () => undefined);
    const byKey = new Map<string, Row>();
    const unkept = new Set<string>();
    for (const [index, one] of given.slice(0, mostRows).entries()) {
      const whole =
        one ?? (makeUp({ type: 'object', properties: entity.properties }, '', index + 1) as Row);
      const row = complete(entity, whole, index + 1, unkept);
      for (const { field, target } of entity.relationships) {
        const parents = rows.get(target) ?? [];
        const key = found.entities.find(({ name }) => name === target)?.key[0] ?? '';
        const isThere = parents.some((parent) => parent[key] === row[field]);
        const fitting = parents.filter((one) => fits(entity.properties[field] ?? {}, one[key]));
        const parent = fitting[index % Math.max(1, fitting.length)];
        if (!isThere && parent !== undefined) row[field] = parent[key];
      }
      const key = JSON.stringify(entity.key.map((name) => row[name]));
      byKey.set(key, { ...byKey.get(key), ...row });
    }
    rows.set(entity.name, [...byKey.values()]);
    if (unkept.size > 0) {
      const message = `values of examples that cannot be represented exactly (numbers beyond 2^53) were left out: ${[...unkept].join(', ')}`;
      marks.push({ place: `entity ${entity.name}`, message });
    }
  }
  return rows;
};
