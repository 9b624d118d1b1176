/**
 * Keys of `[[api.rate_limits]]`: rate limits that answers report in headers. Only a fault enforces the limits. These
 * keys are an extension of the format, because a vendor's clients read such headers, and setting the headers in user
 * code would slow down every request.
 */
import type { RateLimitFact } from '../../contract.ts';
import { distinct, integer, listOf, mapOf, oneOf, textMatching } from '../../read/kinds.ts';
import {
  defaulted,
  described,
  optional,
  required,
  type TableOf,
  tableOf,
} from '../../read/table.ts';

export const rateLimitFacts = [
  'name',
  'limit',
  'used',
  'remaining',
  'reset',
  'reset_after',
  'seconds',
] as const satisfies readonly RateLimitFact[];

const paths = (least: number) =>
  distinct(
    listOf(
      textMatching(
        'the path of operations, such as "/search/code"; * at the end matches any text',
        /^\/[^\s?#*]{0,999}\*?$/,
      ),
      { least, most: 100 },
    ),
  );

const rateLimitKeys = {
  name: described(
    'Name of the limit, for the header that reports it.',
    required(textMatching('a name of 1 to 100 letters, digits and ._-', /^[\w.-]{1,100}$/), ''),
  ),
  limit: described(
    'Maximum number of requests in a window.',
    required(integer(1, 1_000_000_000), 1),
  ),
  seconds: described('Length of a window, in seconds.', required(integer(1, 31_536_000), 1)),
  paths: described(
    'Paths of the operations whose requests count; * at the end matches any text. Absent: all.',
    optional<string[]>(paths(1)),
  ),
  uncounted: described(
    'Those of the "paths" whose requests do not count. Their answers report the limit nevertheless. Same form as "paths".',
    defaulted<string[]>(paths(0), []),
  ),
  headers: described(
    'Value of each header: header to name, limit, used, remaining, reset (in seconds since 1970), reset_after or seconds.',
    required(mapOf(oneOf(rateLimitFacts), { least: 1 }), new Map<string, RateLimitFact>()),
  ),
};
export type RateLimitTable = TableOf<typeof rateLimitKeys>;

export const rateLimitsKey = described(
  'Limits on requests that answers report in headers. No request is refused because of them.',
  defaulted<RateLimitTable[]>(listOf(tableOf(rateLimitKeys), { most: 100 }), []),
);
