/** Attributes of OpenTelemetry as plain values, and how a field is found among several names for it. */
import { isObject } from '#domain/json.ts';

export type Attributes = ReadonlyMap<string, unknown>;

export const noAttributes: Attributes = new Map();

/** Values nest no deeper; what lies deeper is null. */
export const mostLevels = 32;
/** Of one span, resource, scope or event. */
export const mostAttributes = 10_000;

/** A whole number as it can be kept: as text where no number holds it. */
export const wholeOf = (given: bigint | string | number): number | string => {
  const number = Number(given);
  return Number.isSafeInteger(number) || typeof given === 'number' ? number : String(given);
};

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** The value of the first of these names that has one. */
export const firstOf = (attributes: Attributes, names: readonly string[]): unknown => {
  for (const name of names) {
    const value = attributes.get(name);
    if (isGiven(value)) return value;
  }
  return undefined;
};

/** The same as text; numbers and booleans as they are written. */
export const textOf = (attributes: Attributes, names: readonly string[]): string | undefined => {
  const value = firstOf(attributes, names);
  if (value === undefined) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** JSON in texts nests no deeper than in bodies; a text that does is left a text. */
const mostTextLevels = 200;

const nestsWithin = (value: unknown, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  return Object.values(value).every((member) => nestsWithin(member, levels - 1));
};

const parseJson = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    return nestsWithin(value, mostTextLevels) ? value : text;
  } catch {
    return text; // a text that only looks like it
  }
};

/** A text that holds a JSON object or list as that; any other value as it is. */
export const parseLoose = (value: unknown): unknown =>
  typeof value === 'string' && /^\s*[[{]/.test(value) ? parseJson(value) : value;

/**
 * The same, and a number, true, false or null as JSON writes it: Langfuse's SDKs write all inputs, outputs and members of
 * metadata so. A number that would lose digits stays a text.
 */
export const parseWritten = (value: unknown): unknown => {
  if (typeof value !== 'string' || !/^(?:-?\d|true$|false$|null$)/.test(value)) {
    return parseLoose(value);
  }
  const parsed = parseJson(value);
  return String(parsed) === value ? parsed : value;
};

/** A text that an SDK put in quotes of JSON, without them. */
export const unquote = (value: unknown): unknown =>
  typeof value === 'string' && value.startsWith('"') ? parseJson(value) : value;

/** What stands under a prefix, by the rest of each name, over what an attribute of the bare name holds as JSON. */
export const recordOf = (
  attributes: Attributes,
  names: readonly string[],
): Record<string, unknown> => {
  const found = new Map<string, unknown>();
  for (const name of names) {
    const whole = parseLoose(attributes.get(name));
    if (isObject(whole)) for (const [key, value] of Object.entries(whole)) found.set(key, value);
    const prefix = `${name}.`;
    const parse = name.startsWith('langfuse.') ? parseWritten : parseLoose;
    for (const [key, value] of attributes) {
      if (key.startsWith(prefix)) found.set(key.slice(prefix.length), parse(value));
    }
  }
  return Object.fromEntries(found);
};

/** The first attribute whose name ends so, and has a value. */
export const endingIn = (attributes: Attributes, ending: string): unknown => {
  for (const [name, value] of attributes) if (name.endsWith(ending) && isGiven(value)) return value;
  return undefined;
};
