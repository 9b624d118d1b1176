/**
 * Reads the query parameters of a list as Langfuse clients send them. All values are text, and an empty text counts as
 * absent. A list can be sent by repeating the parameter, separated by commas, or both. The error for an invalid
 * parameter names the parameter.
 */
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { parseBoundMs } from '#observability/iso-time.ts';

export type RawQuery = Readonly<Record<string, string | string[] | undefined>>;

/** Builds the error for an invalid field. The path of a nested field has all names from the top to the field. */
export const invalidParameter = (field: string | string[], message: string): AppError => {
  const path = [field].flat();
  return new AppError('invalid', `invalid request: ${path.join('.')} ${message}`, {
    fields: [{ path, message }],
  });
};

/**
 * Reads a text; if the parameter is repeated, the last value counts. Returns undefined if it is absent. Characters that
 * PostgreSQL cannot store, such as NUL, are replaced, because no row could match them.
 */
export const textIn = (query: RawQuery, name: string): string | undefined => {
  const text = [query[name]].flat().at(-1);
  if (text === undefined || text === '') return undefined;
  return text.toWellFormed().replaceAll('\0', '\ufffd');
};

const mostInList = 1_000;

/** Reads a list. Returns undefined if it is empty. */
export const listIn = (query: RawQuery, name: string): string[] | undefined => {
  const texts = [query[name]]
    .flat()
    .flatMap((text) => text?.split(',') ?? [])
    .map((text) => text.trim().toWellFormed().replaceAll('\0', '\ufffd'))
    .filter((text) => text !== '');
  if (texts.length > mostInList)
    throw invalidParameter(name, `has more than ${mostInList} entries`);
  return texts.length === 0 ? undefined : texts;
};

/**
 * Reads a whole number within bounds. Returns `usual` if the parameter is absent, and throws `invalid` for any other
 * text.
 */
export const numberIn = (
  query: RawQuery,
  name: string,
  { least, most, usual }: { least: number; most: number; usual: number },
): number => {
  const text = textIn(query, name);
  if (text === undefined) return usual;
  const number = Number(text);
  if (Number.isInteger(number) && number >= least && number <= most) return number;
  throw invalidParameter(name, `must be a whole number from ${least} to ${most}`);
};

/**
 * Reads a time and returns it as ISO text for the database; undefined if the parameter is absent. Throws `invalid` for
 * any other text.
 */
export const timeIn = (query: RawQuery, name: string): string | undefined => {
  const text = textIn(query, name);
  if (text === undefined) return undefined;
  // The plus of an offset becomes a space if a client does not escape it.
  const ms = parseBoundMs(text.replace(' ', '+'));
  if (ms !== undefined) return new Date(ms).toISOString();
  throw invalidParameter(name, 'must be an ISO 8601 time with its offset');
};

export const isTrue = (query: RawQuery, name: string): boolean => textIn(query, name) === 'true';

export type Page = { page: number; limit: number; offset: number };

const mostPages = 1_000_000;

/**
 * Reads the number of the requested page; the first page is 1. Pages far down a list are refused, because all rows
 * before them would have to be read.
 */
export const pageIn = (query: RawQuery): Page => {
  const page = numberIn(query, 'page', { least: 1, most: mostPages, usual: 1 });
  const { pageMax, pageDefault } = limits;
  const limit = numberIn(query, 'limit', { least: 1, most: pageMax, usual: pageDefault });
  const offset = (page - 1) * limit;
  if (offset <= limits.lookedAtItems) return { page, limit, offset };
  throw invalidParameter(
    'page',
    `begins after more than ${limits.lookedAtItems} entries; limit the list to a shorter time with the time filters`,
  );
};

/**
 * Reads the names of the requested groups of members and ignores unknown ones. Returns the default groups if no known
 * group is named.
 */
export const fieldsIn = <Group extends string>(
  query: RawQuery,
  known: readonly Group[],
  usual: readonly Group[],
): ReadonlySet<Group> => {
  const asked = listIn(query, 'fields') ?? [];
  const groups = known.filter((group) => asked.includes(group));
  return new Set(groups.length === 0 ? usual : groups);
};

/** Returns the `meta` of an answer with a numbered page. */
export const metaOf = (
  { page, limit }: Page,
  { total, isLowerBound }: { total: number; isLowerBound: boolean },
) => ({
  page,
  limit,
  totalItems: total,
  totalPages: Math.ceil(total / limit),
  ...(isLowerBound ? { totalItemsIsLowerBound: true as const } : {}),
});
