/** Reads the requested page from the arguments of a request: its size, and where it starts. */
import type { ApiContract, RouteContract } from '#language/contract.ts';
import type { Arguments } from '../../routes/filter-values.ts';
import { FailedAction } from '../answers/answer.ts';
import { invalidArgument } from '../answers/invalid-answer.ts';
import { type Anchor, readCursor } from './cursor.ts';

/** Maximum number of rows in one answer, whatever the world's `page_size` is. */
export const maxPageRows = 10_000;

export type PageRequest = {
  /** Number of rows, from 1 to `maxPageRows`. */
  limit: number;
  offset: number;
  /** Start of the page; null for the first page. */
  anchor: Anchor | null;
};

type Asked = { api: ApiContract; route: RouteContract; args: Arguments };

const refuseParameter = (api: ApiContract, name: string, detail: string): never => {
  throw new FailedAction(invalidArgument(api, name, detail));
};

const readNumber = (
  { api, args }: Asked,
  name: string,
  fallback: number,
  min: number,
  max: number,
): number => {
  const text = args[name];
  if (text === undefined) return fallback;
  const value = typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max
    ? value
    : refuseParameter(api, name, `must be a whole number from ${min} to ${max}`);
};

const readAnchor = ({ api, route, args }: Asked): Anchor | null => {
  const name = api.paging.cursorParam;
  const text = args[name];
  if (text === undefined) return null;
  const anchor = typeof text === 'string' ? readCursor(route.operation, text) : undefined;
  return anchor ?? refuseParameter(api, name, `is no cursor of ${route.operation}`);
};

/**
 * Reads the paging parameters. Throws `FailedAction` with the vendor's `invalid` when a parameter has an invalid value.
 */
export const readPageRequest = (asked: Asked): PageRequest => {
  const { pageSize, limitParam, offsetParam } = asked.api.paging;
  const limit = readNumber(asked, limitParam, pageSize, 1, maxPageRows);
  return asked.route.page === 'cursor'
    ? { limit, offset: 0, anchor: readAnchor(asked) }
    : {
        limit,
        offset: readNumber(asked, offsetParam, 0, 0, Number.MAX_SAFE_INTEGER),
        anchor: null,
      };
};
