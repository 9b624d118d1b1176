/**
 * Reads members of events as clients send them: absent, null, or a value of the right type. A value of any other type
 * throws `Misfit`, which names the member and refuses that one event. Characters that no database can store (NUL, lone
 * surrogates) are replaced instead of refused, because the text comes from an agent and the client cannot correct it.
 */
import { isObject } from '#domain/json.ts';
import { parseTimeUs } from './iso-time.ts';

/** Thrown if a member of an event has the wrong type or an invalid value. */
export class Misfit extends Error {
  readonly path: string;
  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

export type Body = Readonly<Record<string, unknown>>;

/** Maximum lengths of texts, in characters. */
export const textLimits = { id: 800, name: 1_000, text: 100_000 } as const;

/** Replaces the characters that PostgreSQL cannot store. */
export const cleanText = (text: string): string => {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '\ufffd') : whole;
};

/** Reads a text; returns undefined if it is absent. */
export const readText = (
  body: Body,
  name: string,
  most: number = textLimits.text,
): string | null | undefined => {
  const value = body[name];
  if (value === undefined || value === null) return value;
  if (typeof value !== 'string') throw new Misfit(name, 'must be a string');
  if (value.length > most) throw new Misfit(name, `must have at most ${most} characters`);
  return cleanText(value);
};

/** Reads an id; returns null if it is absent or empty. */
export const readId = (body: Body, name: string): string | null => {
  const text = readText(body, name, textLimits.id);
  return text === undefined || text === '' ? null : text;
};

export const readBoolean = (body: Body, name: string): boolean | null | undefined => {
  const value = body[name];
  if (value === undefined || value === null || typeof value === 'boolean') return value;
  throw new Misfit(name, 'must be true or false');
};

/**
 * Reads any JSON value as its JSON text. Null counts as absent, so that it never clears the input or output of a model.
 */
export const readJson = (body: Body, name: string): string | undefined => {
  const value = body[name];
  return value === undefined || value === null ? undefined : JSON.stringify(value);
};

/** Reads an object as its JSON text. */
export const readRecord = (body: Body, name: string): string | null | undefined => {
  const value = body[name];
  if (value === undefined || value === null) return value;
  if (!isObject(value)) throw new Misfit(name, 'must be an object');
  return JSON.stringify(value);
};

/** Largest absolute value of a number. It is limited so that sums and sums of squares of many numbers stay finite. */
const mostNumber = 1e100;

/**
 * Returns why a number cannot be stored; undefined if it can. JSON numbers can exceed the range of numbers and are then
 * parsed as infinite.
 */
export const numberProblem = (value: number): string | undefined =>
  Math.abs(value) <= mostNumber ? undefined : `must be between -${mostNumber} and ${mostNumber}`;

/** Reads a time as milliseconds since 1970. */
export const readTime = (body: Body, name: string): number | null | undefined => {
  const value = body[name];
  if (value === undefined || value === null || value === '') return value === '' ? null : value;
  const us = parseTimeUs(value);
  if (us === undefined) {
    throw new Misfit(name, 'must be an ISO 8601 time with its offset, from 1970 up to 2199');
  }
  return Math.floor(us / 1_000);
};

/** Reads a list of texts; null counts as empty. */
export const readTexts = (body: Body, name: string): string[] => {
  const value = body[name];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.some((one) => typeof one !== 'string')) {
    throw new Misfit(name, 'must be a list of strings');
  }
  const long = value.find((one: string) => one.length > textLimits.name);
  if (long !== undefined) throw new Misfit(name, `must hold texts of at most ${textLimits.name}`);
  return value.map(cleanText);
};
