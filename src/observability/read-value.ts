/**
 * Members of events as clients send them: absent, null, or a value of the right form. What has another form is a
 * `Misfit`, which refuses its one event and names the place. What no database holds (NUL, half a character) is
 * replaced rather than refused: an agent's text is what it is.
 */
import { isObject } from '#domain/json.ts';
import { parseTimeUs } from './iso-time.ts';

/** Something in an event that has not the form that it needs. */
export class Misfit extends Error {
  readonly path: string;
  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

export type Body = Readonly<Record<string, unknown>>;

/** Longest values, in characters. */
export const textLimits = { id: 800, name: 1_000, text: 100_000 } as const;

/** The text without what PostgreSQL cannot hold. */
export const cleanText = (text: string): string => {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '\ufffd') : whole;
};

/** A text member; undefined when absent. */
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

/** An id; an empty one is none. */
export const readId = (body: Body, name: string): string | null => {
  const text = readText(body, name, textLimits.id);
  return text === undefined || text === '' ? null : text;
};

export const readBoolean = (body: Body, name: string): boolean | null | undefined => {
  const value = body[name];
  if (value === undefined || value === null || typeof value === 'boolean') return value;
  throw new Misfit(name, 'must be true or false');
};

/** Any JSON value, as its text. Null counts as absent: it never clears what a model was asked or answered. */
export const readJson = (body: Body, name: string): string | undefined => {
  const value = body[name];
  return value === undefined || value === null ? undefined : JSON.stringify(value);
};

/** An object, as its text. */
export const readRecord = (body: Body, name: string): string | null | undefined => {
  const value = body[name];
  if (value === undefined || value === null) return value;
  if (!isObject(value)) throw new Misfit(name, 'must be an object');
  return JSON.stringify(value);
};

/** As far from zero as a number may be that is added up with others, and its square with theirs. */
const mostNumber = 1e100;

/** What is wrong with a number that is to be kept; JSON can say numbers that are infinite. */
export const numberProblem = (value: number): string | undefined =>
  Math.abs(value) <= mostNumber ? undefined : `must be between -${mostNumber} and ${mostNumber}`;

/** A time, in milliseconds since 1970. */
export const readTime = (body: Body, name: string): number | null | undefined => {
  const value = body[name];
  if (value === undefined || value === null || value === '') return value === '' ? null : value;
  const us = parseTimeUs(value);
  if (us === undefined) {
    throw new Misfit(name, 'must be an ISO 8601 time with its offset, from 1970 up to 2199');
  }
  return Math.floor(us / 1_000);
};

/** A list of texts; null is none. */
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
