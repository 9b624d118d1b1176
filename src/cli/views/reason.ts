/** Finds the reason why a request or a call failed, in its ledger entry or in the body of the vendor's answer. */
import { isObject } from '#domain/json.ts';
import type { RequestView } from '#wire/public-api/sessions/request.ts';
import { cutLine } from '../terminal/print.ts';

/** Maximum number of characters of a reason; `--json` shows all of it. */
const mostChars = 240;

/** Maximum depth of nested objects and lists that are searched for a text. */
const mostLevels = 6;

/** Names of the members in which vendors put messages, the most informative first. */
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

/** Returns why a ledger entry has a status of 400 or higher, or why a call failed; '' for a success. */
export const failureReason = ({ status, response }: RequestView): string => {
  if (!isObject(response)) return '';
  const { body, error, reason } = response;
  if (status === null) return isObject(error) ? cutLine(wordsOf(error) ?? '', mostChars) : '';
  if (status < 400) return '';
  return cutLine((typeof reason === 'string' ? reason : wordsOf(body)) ?? '', mostChars);
};
