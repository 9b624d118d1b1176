/** Finds the reason why a request or a call failed, in the ledger entry or in the vendor's body. */
import { isObject } from '#domain/json.ts';
import type { RequestView } from '#wire/public-api/sessions/request.ts';
import { cutLine } from '../terminal/print.ts';

/** Most characters of a reason; `--json` has all of it. */
const mostChars = 240;

/** Depth of nested objects and lists that is searched for text. */
const mostLevels = 6;

/** Members in which vendors put messages, most informative first. */
const wordNames = ['message', 'error_description', 'detail', 'title', 'error', 'reason', 'errors'];

const wordsOf = (value: unknown, levels = mostLevels): string | undefined => {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (levels === 0) return undefined;
  const parts = Array.isArray(value)
    ? value.slice(0, 1)
    : isObject(value)
      ? wordNames.map((name) => value[name])
      : [];
  for (const part of parts) {
    const words = wordsOf(part, levels - 1);
    if (words !== undefined) return words;
  }
  return undefined;
};

/** Returns why an entry of the ledger has a status from 400 on, or a call failed; '' for a success. */
export const failureReason = ({ status, response }: RequestView): string => {
  if (!isObject(response)) return '';
  const { body, error, reason } = response;
  if (status === null) return isObject(error) ? cutLine(wordsOf(error) ?? '', mostChars) : '';
  if (status < 400) return '';
  return cutLine((typeof reason === 'string' ? reason : wordsOf(body)) ?? '', mostChars);
};
