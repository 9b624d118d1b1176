/** Attributes of OpenTelemetry as plain values, and lookups of a field that has several names. */
import { isObject } from '#domain/json.ts';

export type Attributes = ReadonlyMap<string, unknown>;

export const noAttributes: Attributes = new Map();

/** Maximum depth of a value; anything deeper becomes null. */
export const mostLevels = 32;
/** Maximum number of attributes of one span, resource, scope or event. */
export const mostAttributes = 10_000;

/** Returns a whole number; returns it as text if a JavaScript number cannot hold it exactly. */
export const wholeOf = (given: bigint | string | number): number | string => {
  const number = Number(given);
  return Number.isSafeInteger(number) || typeof given === 'number' ? number : String(given);
};

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** Returns the value of the first of these names that has a value; undefined if none has. */
export const firstOf = (attributes: Attributes, names: readonly string[]): unknown => {
  for (const name of names) {
    const value = attributes.get(name);
    if (isGiven(value)) return value;
  }
  return undefined;
};

/**
 * Returns the value of the first of these names that has one, as text: numbers and booleans as written, objects as
 * JSON.
 */
export const textOf = (attributes: Attributes, names: readonly string[]): string | undefined => {
  const value = firstOf(attributes, names);
  if (value === undefined) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** Maximum depth of JSON inside a text, equal to that of request bodies; a text with deeper JSON stays text. */
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
    return text; // looks like JSON but is not valid
  }
};

/** Parses a text that holds a JSON object or list; returns any other value unchanged. */
export const parseLoose = (value: unknown): unknown =>
  typeof value === 'string' && /^\s*[[{]/.test(value) ? parseJson(value) : value;

/**
 * Parses like `parseLoose`, and additionally JSON numbers, true, false and null. Langfuse's SDKs encode all inputs,
 * outputs and members of metadata in this way. A number that would lose digits stays text.
 */
export const parseWritten = (value: unknown): unknown => {
  if (typeof value !== 'string' || !/^(?:-?\d|true$|false$|null$)/.test(value)) {
    return parseLoose(value);
  }
  const parsed = parseJson(value);
  return String(parsed) === value ? parsed : value;
};

/** Removes the JSON quotes that an SDK put around a text; returns any other value unchanged. */
export const unquote = (value: unknown): unknown =>
  typeof value === 'string' && value.startsWith('"') ? parseJson(value) : value;

/**
 * Returns the attributes whose names begin with one of the given names and a dot, keyed by the rest of the name. They
 * override the members of a JSON object that is the value of an attribute with exactly the given name.
 */
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

/** Returns the value of the first attribute whose name ends with `ending` and that has a value. */
export const endingIn = (attributes: Attributes, ending: string): unknown => {
  for (const [name, value] of attributes) if (name.endsWith(ending) && isGiven(value)) return value;
  return undefined;
};
