/**
 * Parses the page's list query from a URL: which rows, in which order, starting where. Errors name the invalid
 * parameter.
 */
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import type { Contract, EntityContract, Row } from '#language/contract.ts';
import { readFieldPath } from '#language/field-path.ts';
import { isDeeperThan } from '#language/read/values.ts';
import { filtersOfConditions } from '#store/read/filter.ts';
import type { ViewQuery } from './views.ts';

export type ListQuestion = { view: ViewQuery; limit: number; from: Place };

/** Start of a page: after the row at position `after`. When the cursor was made, `offset` rows came before the page. */
export type Place = { offset: number; after: number | undefined };

const usualRows = 100;
const mostRows = 500;
const mostWords = 8;
const mostChars = 200;
const mostConditionChars = 20_000;

const refuse = (name: string, message: string): never => {
  throw new AppError('invalid', `${name}: ${message}`, { detail: { parameter: name } });
};

const readCount = (
  query: URLSearchParams,
  name: string,
  fallback: number,
  most: number,
): number => {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return value <= most ? value : refuse(name, `must be a whole number from 0 to ${most}`);
};

const parse = (name: string, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return refuse(name, 'is not JSON');
  }
};

const readWhere = (entity: string, query: URLSearchParams): ViewQuery['where'] => {
  const text = query.get('where');
  if (text === null) return [];
  if (text.length > mostConditionChars) {
    refuse('where', `has ${text.length} characters, more than ${mostConditionChars}`);
  }
  const where = parse('where', text);
  return isObject(where) && !isDeeperThan(where, 3)
    ? filtersOfConditions(entity, where as Row)
    : refuse('where', 'must be an object of fields with values or comparisons');
};

const readWords = (query: URLSearchParams): string[] => {
  const text = (query.get('search') ?? '').trim();
  if (text.length > mostChars) refuse('search', `has more than ${mostChars} characters`);
  const words = text === '' ? [] : text.split(/\s+/);
  return words.length <= mostWords
    ? words
    : refuse('search', `has ${words.length} words, more than ${mostWords}`);
};

const readSort = (query: URLSearchParams): ViewQuery['sort'] => {
  const text = query.get('sort') ?? '';
  if (text === '') return undefined;
  const descending = text.startsWith('-');
  return { path: readFieldPath(descending ? text.slice(1) : text), descending };
};

/** Returns a place as the text of a cursor. */
export const writeCursor = ({ offset, after }: Place): string =>
  Buffer.from(JSON.stringify([offset, after])).toString('base64url');

const readCursor = (text: string): Place => {
  const value = parse('cursor', Buffer.from(text, 'base64url').toString('utf8'));
  const [offset, after]: unknown[] = Array.isArray(value) ? value : [];
  return Number.isSafeInteger(offset) && Number.isSafeInteger(after) && Number(offset) >= 0
    ? { offset: Number(offset), after: Number(after) }
    : refuse('cursor', 'is not a cursor that an earlier answer contained');
};

/** Returns an entity by its name. Throws `AppError` if the world does not have it. */
export const findEntity = ({ entities }: Contract, name: string): EntityContract => {
  const entity = entities.find((candidate) => candidate.name === name);
  if (entity !== undefined) return entity;
  const names = entities.map((candidate) => candidate.name).join(', ');
  throw new AppError('not_found', `the world has no entity "${name}"; it has ${names}`);
};

/** Parses a list query. Throws `AppError` or `StoreRefusal` if it is invalid. */
export const readListQuestion = (entity: string, query: URLSearchParams): ListQuestion => {
  const cursor = query.get('cursor');
  const offset = readCount(query, 'offset', 0, Number.MAX_SAFE_INTEGER);
  return {
    view: {
      entity,
      where: readWhere(entity, query),
      words: readWords(query),
      sort: readSort(query),
    },
    limit: Math.max(1, readCount(query, 'limit', usualRows, mostRows)),
    from: cursor === null ? { offset, after: undefined } : readCursor(cursor),
  };
};

/** Parses a primary key, given as a JSON list of its values in order. Returns the key's fields with these values. */
export const readKey = ({ name, primaryKey }: EntityContract, query: URLSearchParams): Row => {
  const value = parse('key', query.get('key') ?? '');
  const isKey =
    Array.isArray(value) &&
    value.length === primaryKey.length &&
    value.every((part) => part !== null && typeof part !== 'object');
  if (!isKey) refuse('key', `must be a JSON list of ${primaryKey.join(', ')} of ${name}`);
  const values = value as unknown[];
  return Object.fromEntries(primaryKey.map((field, index) => [field, values[index]]));
};
