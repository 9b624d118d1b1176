/**
 * Determines whether replacing one JSON Schema of a tool by another breaks callers or readers of the tool. The schemas
 * are compared keyword by keyword and never evaluated: no pattern of a client is run, and no reference is followed. A
 * difference whose effect cannot be determined this way counts as breaking. docs/use/releases.md has the table.
 */
import { isObject, toPointer } from '#domain/json.ts';
import { canonicalText } from '../../base/json/canonical.ts';

/** Kind of a tool's schema: callers depend on the input schema, readers of results on the output schema. */
export type Side = 'input' | 'output';

/** One difference between two schemas; `path` is a JSON pointer into the schema. */
export type SchemaChange = { path: string; change: string; breaking: boolean };

/**
 * Effect of a change. `narrower`: fewer values are valid than before. `wider`: more values are valid. `other`: neither
 * schema includes the other, or that is unknown. A narrower input breaks callers; a wider output breaks readers.
 */
type Effect = 'narrower' | 'wider' | 'other' | 'none';

const breaks = (effect: Effect, side: Side): boolean => {
  if (effect === 'none' || effect === 'other') return effect === 'other';
  return effect === (side === 'input' ? 'narrower' : 'wider');
};

type Schema = Readonly<Record<string, unknown>>;
type Report = (segments: readonly string[], change: string, effect: Effect) => void;
type Compare = (before: Schema, after: Schema, at: readonly string[], report: Report) => void;

/** Keywords without effect on validation; they are for people or for generators of forms. */
const notes = new Set([
  ...['title', 'description', 'default', 'examples', 'example', 'deprecated', 'readOnly'],
  ...['writeOnly', '$comment', '$schema', '$id'],
]);

/**
 * Keywords that are limits: a higher value of a `least` accepts fewer values, a higher value of a `most` accepts more.
 */
const bounds: Readonly<Record<string, 'least' | 'most'>> = {
  minimum: 'least',
  exclusiveMinimum: 'least',
  minLength: 'least',
  minItems: 'least',
  minProperties: 'least',
  minContains: 'least',
  maximum: 'most',
  exclusiveMaximum: 'most',
  maxLength: 'most',
  maxItems: 'most',
  maxProperties: 'most',
  maxContains: 'most',
};

/** Keywords that restrict the valid values wherever they occur. */
const narrowing = new Set(['pattern', 'format', 'multipleOf', 'not', 'allOf']);

/** Keywords that hold schemas by name. */
const named = ['$defs', 'definitions'];
/** Keywords that hold one schema. */
const inner = ['items', 'additionalProperties', 'contains', 'propertyNames'];

const asSchema = (value: unknown): Schema => {
  if (value === false) return { not: {} };
  return isObject(value) ? value : {};
};

const has = (schema: Schema, keyword: string): boolean => Object.hasOwn(schema, keyword);

const keysOf = (...schemas: readonly Schema[]): string[] => [
  ...new Set(schemas.flatMap((schema) => Object.keys(schema))),
];

const short = (value: unknown): string => {
  const text = canonicalText(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
};

const typesOf = ({ type }: Schema): ReadonlySet<string> | undefined => {
  if (type === undefined) return undefined;
  const types = new Set([type].flat().map(String));
  if (types.has('number')) types.add('integer');
  return types;
};

/** Returns the effect of replacing one set of valid values by another; an undefined set contains all values. */
const effectOfSets = (
  before: ReadonlySet<string> | undefined,
  after: ReadonlySet<string> | undefined,
): Effect => {
  if (before === undefined) return after === undefined ? 'none' : 'narrower';
  if (after === undefined) return 'wider';
  const isLost = [...before].some((one) => !after.has(one));
  const isGained = [...after].some((one) => !before.has(one));
  if (isLost) return isGained ? 'other' : 'narrower';
  return isGained ? 'wider' : 'none';
};

const valuesOf = (schema: Schema): ReadonlySet<string> | undefined => {
  if (has(schema, 'const')) return new Set([canonicalText(schema.const)]);
  return Array.isArray(schema.enum) ? new Set(schema.enum.map(canonicalText)) : undefined;
};

const membersOf = (value: unknown): ReadonlySet<string> | undefined =>
  Array.isArray(value) ? new Set(value.map(canonicalText)) : undefined;

const compareTypes: Compare = (before, after, at, report) => {
  const effect = effectOfSets(typesOf(before), typesOf(after));
  const text = `type ${short(before.type ?? 'any')} → ${short(after.type ?? 'any')}`;
  report([...at, 'type'], text, effect);
};

const compareValues: Compare = (before, after, at, report) => {
  const [old, now] = [valuesOf(before), valuesOf(after)];
  const list = (values: ReadonlySet<string> | undefined) =>
    values === undefined ? 'any' : short([...values].map((text) => JSON.parse(text)));
  report([...at, 'enum'], `values ${list(old)} → ${list(now)}`, effectOfSets(old, now));
};

const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];

const compareRequired: Compare = (before, after, at, report) => {
  const [old, now] = [new Set(namesIn(before.required)), new Set(namesIn(after.required))];
  for (const name of now) {
    if (!old.has(name)) report([...at, 'required'], `"${name}" is now required`, 'narrower');
  }
  for (const name of old) {
    if (!now.has(name)) report([...at, 'required'], `"${name}" is no longer required`, 'wider');
  }
};

const compareProperties: Compare = (before, after, at, report) => {
  const [old, now] = [asSchema(before.properties), asSchema(after.properties)];
  for (const name of keysOf(old, now)) {
    const place = [...at, 'properties', name];
    if (!has(now, name)) report(place, 'removed', 'other');
    else if (!has(old, name)) report(place, 'added', 'none');
    else compareSchemas(asSchema(old[name]), asSchema(now[name]), place, report);
  }
};

const compareNamed =
  (keyword: string): Compare =>
  (before, after, at, report) => {
    const [old, now] = [asSchema(before[keyword]), asSchema(after[keyword])];
    // A new or removed definition shows up as a change where it is referenced.
    for (const name of Object.keys(old).filter((one) => has(now, one))) {
      compareSchemas(asSchema(old[name]), asSchema(now[name]), [...at, keyword, name], report);
    }
  };

const compareInner =
  (keyword: string): Compare =>
  (before, after, at, report) => {
    if (Array.isArray(before[keyword]) || Array.isArray(after[keyword])) {
      return compareAny(keyword)(before, after, at, report);
    }
    const [old, now] = [before[keyword] ?? true, after[keyword] ?? true];
    const place = [...at, keyword];
    if (old === false && now !== false) return report(place, 'opened', 'wider');
    if (now === false && old !== false) return report(place, 'closed', 'narrower');
    return compareSchemas(asSchema(old), asSchema(now), place, report);
  };

const compareBound =
  (keyword: string, kind: 'least' | 'most'): Compare =>
  (before, after, at, report) => {
    const [old, now] = [before[keyword], after[keyword]];
    if (old === now) return;
    const text = `${keyword} ${short(old ?? 'none')} → ${short(now ?? 'none')}`;
    const effectOf = (): Effect => {
      if (old === undefined) return 'narrower';
      if (now === undefined) return 'wider';
      if (typeof old !== 'number' || typeof now !== 'number') return 'other';
      return now > old === (kind === 'least') ? 'narrower' : 'wider';
    };
    report([...at, keyword], text, effectOf());
  };

/** Compares two lists of alternatives by the text of the alternatives. */
const compareAlternatives =
  (keyword: string): Compare =>
  (before, after, at, report) => {
    const effect = effectOfSets(membersOf(before[keyword]), membersOf(after[keyword]));
    report([...at, keyword], 'alternatives differ', effect);
  };

/** Compares two values of a keyword only for equality. */
const compareAny =
  (keyword: string): Compare =>
  (before, after, at, report) => {
    const [old, now] = [before[keyword], after[keyword]];
    if (canonicalText(old) === canonicalText(now)) return;
    const effectOf = (): Effect => {
      if (!narrowing.has(keyword)) return 'other';
      if (old === undefined) return 'narrower';
      return now === undefined ? 'wider' : 'other';
    };
    const text = `${keyword} ${short(old ?? 'none')} → ${short(now ?? 'none')}`;
    report([...at, keyword], text, effectOf());
  };

const comparisons: ReadonlyMap<string, Compare> = new Map<string, Compare>([
  ['type', compareTypes],
  ['enum', compareValues],
  [
    'const',
    (before, after, at, report) => {
      if (!has(before, 'enum') && !has(after, 'enum')) compareValues(before, after, at, report);
    },
  ],
  ['required', compareRequired],
  ['properties', compareProperties],
  ['anyOf', compareAlternatives('anyOf')],
  ['oneOf', compareAlternatives('oneOf')],
  ...named.map((keyword): [string, Compare] => [keyword, compareNamed(keyword)]),
  ...inner.map((keyword): [string, Compare] => [keyword, compareInner(keyword)]),
  ...Object.entries(bounds).map(([keyword, kind]): [string, Compare] => [
    keyword,
    compareBound(keyword, kind),
  ]),
]);

const compareSchemas: Compare = (before, after, at, report) => {
  for (const keyword of keysOf(before, after)) {
    if (notes.has(keyword)) continue;
    (comparisons.get(keyword) ?? compareAny(keyword))(before, after, at, report);
  }
};

/** Returns the differences from the schema `before` to the schema `after`; an undefined schema accepts everything. */
export const schemaChanges = (before: unknown, after: unknown, side: Side): SchemaChange[] => {
  const changes: SchemaChange[] = [];
  const report: Report = (segments, change, effect) => {
    const isAddition = change === 'added';
    if (effect === 'none' && !isAddition) return;
    changes.push({ path: toPointer(segments), change, breaking: breaks(effect, side) });
  };
  compareSchemas(asSchema(before), asSchema(after), [], report);
  return changes;
};
