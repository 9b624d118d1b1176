/**
 * Keys of `[api.faults]`: faults that are injected into an agent's use of the world's API. They are an extension of the
 * format. The same table, as JSON, is the input of the call `faults`, which sets the faults of a running session.
 */
import type { Fault } from '../../contract.ts';
import {
  distinct,
  flag,
  integer,
  listOf,
  mapOf,
  number,
  oneOf,
  text,
  textMatching,
} from '../../read/kinds.ts';
import {
  defaulted,
  described,
  optional,
  required,
  type TableOf,
  tableOf,
} from '../../read/table.ts';
import { errorStatus } from './operations.ts';

/** Maximum latency that all rules together add to an answer, in milliseconds. */
export const mostLatencyMs = 60_000;
const mostRules = 100;
/** Maximum number of headers in a rule's answer, because clients accept only some KiB of headers. */
export const mostFaultHeaders = 20;
const mostCount = 1_000_000_000;

const ruleName = textMatching('a name of 1 to 100 letters, digits and ._-', /^[\w.-]{1,100}$/);
const routeNames = distinct(
  listOf(
    textMatching(
      'the name of an operation, or the path of operations, such as "/search/code"; * at the end of a path matches any text',
      /^(?:[a-z][a-z0-9_]{0,127}|\/[^\s?#*]{0,999}\*?)$/,
    ),
    { least: 1, most: 100 },
  ),
);
const headerText = textMatching(
  'at most 500 visible ASCII characters',
  /^(?:[!-~](?:[ -~]{0,498}[!-~])?)?$/,
);

const ruleKeys = {
  name: described(
    'Name of the rule. The request ledger shows the name for each request that the rule affected.',
    required(ruleName, ''),
  ),
  routes: described(
    'Names or paths of the operations that the rule affects; * at the end of a path matches any text. Absent: all.',
    optional<string[]>(routeNames),
  ),
  nth: described(
    'Number of the request that the rule affects. Requests are counted from the start of the session, from its last reset, or from the time at which the faults were set, whichever is latest.',
    optional<number>(integer(1, mostCount)),
  ),
  times: described(
    'With nth: number of consecutive requests that the rule affects. Default: 1.',
    optional<number>(integer(1, mostCount)),
  ),
  chance: described(
    'Probability that the rule affects a request, drawn from the seed of the session. Without nth and chance, the rule affects all requests.',
    optional<number>(number(0, 1)),
  ),
  latency_ms: described(
    'Delay of the answer, in milliseconds. The request is executed at once.',
    optional<number>(integer(1, mostLatencyMs)),
  ),
  status: described(
    'Status of an answer that is sent instead of executing the request. With rate_limit: status of the answer to a request beyond the limit; default: 429.',
    optional<number>(errorStatus),
  ),
  body: described(
    'Body of the answer with this status, as JSON text unless error_content_type names another type. Default: "", no body.',
    optional<string>(text),
  ),
  headers: described(
    'Headers of the answer with this status: header to value.',
    defaulted<Map<string, string>>(mapOf(headerText), new Map()),
  ),
  drop: described(
    'Closes the connection without an answer, before or after the request is executed.',
    optional<'before' | 'after'>(oneOf(['before', 'after'])),
  ),
  rate_limit: described(
    'Name of a rate limit of [[api.rate_limits]]. Requests beyond the limit are refused, and the headers report the real numbers.',
    optional<string>(ruleName),
  ),
  limit: described(
    "With rate_limit: maximum number of requests in a window, in place of the limit's own number.",
    optional<number>(integer(1, mostCount)),
  ),
  seconds: described(
    "With rate_limit: length of a window in seconds, in place of the limit's own length.",
    optional<number>(integer(1, 31_536_000)),
  ),
  retry_after: described(
    'With rate_limit: whether Retry-After gives the seconds until the window ends. Default: true.',
    optional<boolean>(flag),
  ),
};
export type FaultTable = TableOf<typeof ruleKeys>;

export const faultsKeys = {
  tools: described(
    'Whether faults also affect tool calls. A tool that is an operation is affected by the rules of its route; any other tool by the rules without routes.',
    defaulted(flag, false),
  ),
  rules: described(
    'The faults, in the order in which they are checked.',
    defaulted<FaultTable[]>(listOf(tableOf(ruleKeys), { most: mostRules }), []),
  ),
};
export type FaultsTable = TableOf<typeof faultsKeys>;

/** Keys of a rule, each of which selects one kind of effect. */
export const effectKeys = ['status', 'rate_limit', 'drop'] as const satisfies readonly NonNullable<
  Fault['effect']
>['kind'][];
