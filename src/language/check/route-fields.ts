/**
 * Checks the keys of `[operations.api]` that name fields: `filter` reads the fields; `body`, `defaults` and `generate`
 * write them. Each field is looked up in the schema of the operation's entity.
 */
import type { EntityContract, FilterMatch, RouteContract } from '../contract.ts';
import { parseFieldPath } from '../field-path.ts';
import type { Place } from '../read/place.ts';
import type { JsonType } from '../schema/analysis.ts';
import { type Field, findField, type Model } from './model.ts';
import { type RouteDraft, type RouteSources, refuseUnknownArgument } from './route-draft.ts';
import type { FieldValues } from './values.ts';

type GeneratedWith = RouteContract['generate'][number]['with'];

const scalars: readonly JsonType[] = ['string', 'integer', 'number', 'boolean'];

/** Types of fields to which each kind of match can be applied; `contains` on a list searches its items. */
const matchable: Record<FilterMatch, readonly JsonType[]> = {
  equals: scalars,
  prefix: ['string'],
  contains: ['string', 'array'],
};

const describeTypes = (types: ReadonlySet<JsonType>): string => [...types].join(' or ');

/** Returns the values that a text in a request may mean. */
const meaningsOf = (sample: unknown): unknown[] =>
  [sample].flat().flatMap((value) => {
    const text = String(value);
    const number = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? [Number(text)] : [];
    return [text, ...number, ...(text === 'true' || text === 'false' ? [text === 'true'] : [])];
  });

/** Refuses a sample that no row can match. */
const checkSample = (
  draft: RouteDraft,
  { argument, field }: { argument: string; field: Field },
  values: FieldValues,
): void => {
  const sample = draft.api.sample.get(argument);
  const { entity } = draft;
  if (sample === undefined || entity === undefined) return;
  const faults = meaningsOf(sample).map((value) => values.faults(entity, field, value));
  if (faults.length === 0 || faults.some(({ length }) => length === 0)) return;
  const shown = JSON.stringify(sample).slice(0, 100);
  const message = `the sample ${shown} can never match: ${faults[0]?.[0]}`;
  draft.apiPlace.at('sample', argument).refuse('type_mismatch', message);
};

export const readFilter = (
  draft: RouteDraft,
  { model, values }: Pick<RouteSources, 'model' | 'values'>,
): RouteContract['filter'] =>
  [...draft.api.filter].flatMap(([argument, written]) => {
    const place = draft.apiPlace.at('filter', argument);
    refuseUnknownArgument(draft, place.ofKey(), argument);
    const field = draft.entity && findField(place, written, draft.entity, model);
    if (field === undefined) return [];
    const match = draft.api.match.get(argument) ?? 'equals';
    const types = model.types(field.schemas);
    if (types !== undefined && !matchable[match].some((type) => types.has(type))) {
      const message = `"${written}" is ${describeTypes(types)} and cannot be compared by "${match}"`;
      place.refuse('type_mismatch', message);
    } else if (match === 'equals') checkSample(draft, { argument, field }, values);
    return [{ argument, path: field.path, match }];
  });

export const readBody = (draft: RouteDraft, model: Model): RouteContract['body'] =>
  [...draft.api.body].flatMap(([written, from]) => {
    const place = draft.apiPlace.at('body', written);
    const source = parseFieldPath(from);
    if (source === undefined) {
      const shown = JSON.stringify(from.slice(0, 200));
      const message = `${shown} is not a path to a member of the request's body`;
      place.refuse('bad_value', message, 'write a.b.c or /a/b/c');
    }
    const field = draft.entity && findField(place.ofKey(), written, draft.entity, model);
    return field === undefined || source === undefined ? [] : [{ field: field.path, from: source }];
  });

/** Returns the top-level field of the entity that the key at the place names, with its name. */
export const findDirectField = (
  place: Place,
  written: string,
  entity: EntityContract | undefined,
  model: Model,
): { name: string; field: Field } | undefined => {
  const field = entity && findField(place.ofKey(), written, entity, model);
  const [name, ...inner] = field?.path ?? [];
  if (field === undefined || name === undefined) return undefined;
  if (inner.length === 0) return { name, field };
  const message = `"${written}" is not a top-level field of ${entity?.name}`;
  place.ofKey().refuse('bad_value', message, `write the whole value of "${name}"`);
  return undefined;
};

export const readDefaults = (
  draft: RouteDraft,
  { model, values }: RouteSources,
): RouteContract['defaults'] =>
  Object.fromEntries(
    [...draft.api.defaults].flatMap(([written, value]) => {
      const place = draft.apiPlace.at('defaults', written);
      const found = findDirectField(place, written, draft.entity, model);
      if (draft.entity === undefined || found === undefined) return [];
      values.check(place, draft.entity, found.field, value);
      return [[found.name, value]];
    }),
  );

/** Types of a field for which each kind of value can be generated; `now` is a text or seconds since 1970. */
const generatedTypes: Record<GeneratedWith, readonly JsonType[]> = {
  uuid: ['string'],
  int: ['integer', 'number'],
  now: ['string', 'integer', 'number'],
};

export const readGenerate = (draft: RouteDraft, model: Model): RouteContract['generate'] =>
  [...draft.api.generate].flatMap(([written, source]) => {
    const place = draft.apiPlace.at('generate', written);
    const found = findDirectField(place, written, draft.entity, model);
    if (found === undefined) return [];
    const types = model.types(found.field.schemas);
    const fitting = generatedTypes[source];
    if (types !== undefined && !fitting.some((type) => types.has(type))) {
      const message = `"${written}" is ${describeTypes(types)}; "${source}" generates a ${fitting.join(' or ')}`;
      place.refuse('type_mismatch', message);
    }
    if (draft.api.defaults.has(written)) {
      place.ofKey().refuse('duplicate', `"${written}" has both a default and a generated value`);
    }
    return [{ field: found.name, with: source }];
  });
