/** Generates values that mostly fit a schema, and slightly broken variants of them. */
import type { Choices } from './choices.ts';
import { chooseValue, formatTexts, type SchemaFamily } from './schema-choices.ts';

type Loose = Readonly<Record<string, unknown>>;
type Definitions = SchemaFamily['definitions'];

const asObject = (held: unknown): Loose =>
  typeof held === 'object' && held !== null && !Array.isArray(held) ? (held as Loose) : {};
const asList = (held: unknown): readonly unknown[] => (Array.isArray(held) ? held : []);

/**
 * Returns the schema and the schemas below it that apply to the same value; of alternatives, those that were chosen.
 */
const membersOf = (schema: unknown, definitions: Definitions, choices: Choices): Loose[] => {
  const own = asObject(schema);
  const chosen = [own.anyOf, own.oneOf]
    .map(asList)
    .filter(({ length }) => length > 0)
    .map((list) => choices.of(list));
  const branch = choices.oneIn(2) ? [own.else] : [own.if, own.then];
  const target =
    typeof own.$ref === 'string' ? definitions[own.$ref.slice('#/$defs/'.length)] : undefined;
  const parts = [target, ...asList(own.allOf), ...chosen, ...branch];
  return [
    own,
    ...parts
      .filter((part) => part !== undefined)
      .flatMap((part) => membersOf(part, definitions, choices)),
  ];
};

const fitNumber = (members: readonly Loose[], choices: Choices): number => {
  const bounds = members.flatMap((member) =>
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].flatMap((key) =>
      typeof member[key] === 'number' ? [member[key]] : [],
    ),
  );
  const bound = bounds.length === 0 ? 0 : choices.of(bounds);
  return bound + choices.of([0, 1, -1, 0.5, 0.01]);
};

const fitText = (members: readonly Loose[], choices: Choices): string => {
  const [format] = members.flatMap(({ format }) => (typeof format === 'string' ? [format] : []));
  const known = formatTexts[format ?? ''];
  if (known !== undefined && !choices.oneIn(4)) return choices.of(known);
  return choices.of(['', 'a', 'ab', 'aa', 'x_1', '12', 'é', '😀', ' ', 'abc', 'b']);
};

/** Generates a value that the schema probably accepts. */
export const fitValue = (
  schema: unknown,
  definitions: Definitions,
  choices: Choices,
  depth = 4,
): unknown => {
  if (depth === 0 || choices.isUsedUp()) return chooseValue(choices, 0);
  const members = membersOf(schema, definitions, choices);
  const inner = (part: unknown): unknown => fitValue(part, definitions, choices, depth - 1);
  const given = members.flatMap((member) => [
    ...(Object.hasOwn(member, 'const') ? [member.const] : []),
    ...asList(member.enum),
  ]);
  if (given.length > 0 && !choices.oneIn(8)) return structuredClone(choices.of(given));
  const declared = members.flatMap(({ type }) => (type === undefined ? [] : [type].flat()));
  const hinted = members.flatMap((member) => [
    ...(Object.hasOwn(member, 'properties') || Object.hasOwn(member, 'required') ? ['object'] : []),
    ...(Object.hasOwn(member, 'items') || Object.hasOwn(member, 'contains') ? ['array'] : []),
    ...(Object.hasOwn(member, 'pattern') || Object.hasOwn(member, 'format') ? ['string'] : []),
    ...(Object.hasOwn(member, 'minimum') || Object.hasOwn(member, 'maximum') ? ['number'] : []),
  ]);
  const kinds = declared.length > 0 ? declared : [...hinted, 'object', 'array', 'string', 'number'];
  switch (choices.of(kinds)) {
    case 'object': {
      const properties = members.flatMap((member) => Object.entries(asObject(member.properties)));
      const wanted = members.flatMap((member) => asList(member.required)).map(String);
      const chosen = properties.filter(([name]) => wanted.includes(name) || !choices.oneIn(3));
      const missing = wanted.filter((name) => !chosen.some(([other]) => other === name));
      const extra = choices.list(0, 2, () => choices.of(['a', 'b', 'x_1', 'é', 'z']));
      return Object.fromEntries([
        ...extra.map((name) => [name, chooseValue(choices, 1)]),
        ...missing.map((name) => [name, chooseValue(choices, 1)]),
        ...chosen.map(([name, part]) => [name, inner(part)]),
      ]);
    }
    case 'array': {
      const first = members.flatMap(({ prefixItems }) => asList(prefixItems));
      const others = members.flatMap(({ items, contains }) => [items, contains]);
      const rest = choices.list(0, 3, () => inner(choices.of(others.length > 0 ? others : [true])));
      return [...first.map(inner), ...rest];
    }
    case 'string':
      return fitText(members, choices);
    case 'integer':
      return Math.floor(fitNumber(members, choices));
    case 'number':
      return fitNumber(members, choices);
    case 'boolean':
      return choices.oneIn(2);
    default:
      return null;
  }
};

const breakText = (text: string, choices: Choices): string => {
  const at = choices.below(text.length + 1);
  const added = choices.of(['', 'a', ' ', 'é', '0', '.', ':', '-', '/', '\n', 'Z', '@', '%', '[']);
  return text.slice(0, at) + added + text.slice(at + choices.below(2));
};

/** Returns the value with one small change, somewhere in it. */
export const breakValue = (value: unknown, choices: Choices): unknown => {
  if (choices.oneIn(6)) return chooseValue(choices, 2);
  if (typeof value === 'string') return breakText(value, choices);
  if (typeof value === 'number') return value + choices.of([1, -1, 0.5, 0.01]);
  if (Array.isArray(value)) {
    const at = choices.below(value.length + 1);
    const item: unknown = value[at];
    const changed = choices.of([
      () => [],
      () => [breakValue(item ?? null, choices)],
      () => [item ?? null, structuredClone(item ?? null)],
      () => [chooseValue(choices, 1), ...(at < value.length ? [item] : [])],
    ])();
    return [...value.slice(0, at), ...changed, ...value.slice(at + 1)];
  }
  if (typeof value !== 'object' || value === null) return chooseValue(choices, 1);
  const entries = Object.entries(value);
  const name = choices.of(['a', 'b', 'c', 'é', 'x_1', 'constructor', '__proto__', '0']);
  if (entries.length === 0 || choices.oneIn(3)) {
    return Object.fromEntries([...entries, [name, chooseValue(choices, 1)]]);
  }
  const at = choices.below(entries.length);
  return Object.fromEntries(
    entries.flatMap(([key, inner], index): [string, unknown][] => {
      if (index !== at) return [[key, inner]];
      return choices.oneIn(3) ? [] : [[key, breakValue(inner, choices)]];
    }),
  );
};
