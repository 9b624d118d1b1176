/**
 * Attributes of OpenTelemetry as plain values, and how a field is found among several names for it. Values come as
 * `{stringValue}`, `{intValue}` and so on; whole numbers as text or as numbers, as exporters differ.
 */
import { isObject } from '#domain/json.ts';

export type Attributes = ReadonlyMap<string, unknown>;

/** Values nest no deeper; what lies deeper is null. */
const mostLevels = 32;
/** Of one span or resource. */
const mostAttributes = 10_000;

const readAny = (given: unknown, levels: number): unknown => {
  if (!isObject(given) || levels === 0) return null;
  if (typeof given.stringValue === 'string') return given.stringValue;
  if (typeof given.boolValue === 'boolean') return given.boolValue;
  if (given.intValue !== undefined) return Number(given.intValue);
  if (given.doubleValue !== undefined) return Number(given.doubleValue);
  if (typeof given.bytesValue === 'string') return given.bytesValue;
  if (isObject(given.arrayValue)) {
    const { values } = given.arrayValue;
    return Array.isArray(values) ? values.map((value) => readAny(value, levels - 1)) : [];
  }
  if (isObject(given.kvlistValue)) {
    return Object.fromEntries(readAttributes(given.kvlistValue.values, levels - 1));
  }
  return null;
};

/** A list of `{key, value}`; what is none of these is left out. */
export const readAttributes = (given: unknown, levels = mostLevels): Map<string, unknown> => {
  const list = Array.isArray(given) ? given.slice(0, mostAttributes) : [];
  return new Map(
    list.flatMap((one): [string, unknown][] =>
      isObject(one) && typeof one.key === 'string' ? [[one.key, readAny(one.value, levels)]] : [],
    ),
  );
};

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** The value of the first of these names that has one. */
export const firstOf = (attributes: Attributes, names: readonly string[]): unknown =>
  names.map((name) => attributes.get(name)).find(isGiven);

/** The same as text; numbers and booleans as they are written. */
export const textOf = (attributes: Attributes, names: readonly string[]): string | undefined => {
  const value = firstOf(attributes, names);
  if (value === undefined) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** A text that holds a JSON object or list as that; any other value as it is. */
export const parseLoose = (value: unknown): unknown => {
  if (typeof value !== 'string' || !/^\s*[[{"]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value; // a text that only looks like it
  }
};

/** What stands under a prefix, by the rest of each name, over what an attribute of the bare name holds as JSON. */
export const recordOf = (
  attributes: Attributes,
  names: readonly string[],
): Record<string, unknown> => {
  const found = new Map<string, unknown>();
  for (const name of names) {
    const whole = parseLoose(attributes.get(name));
    if (isObject(whole)) for (const [key, value] of Object.entries(whole)) found.set(key, value);
    for (const [key, value] of attributes) {
      if (key.startsWith(`${name}.`)) found.set(key.slice(name.length + 1), parseLoose(value));
    }
  }
  return Object.fromEntries(found);
};
