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
      'the name of an operation, or the path of some, such as "/search/code"; * at its end stands for anything',
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
    'Name of the rule, which the request ledger shows for each request that it affected.',
    required(ruleName, ''),
  ),
  routes: described(
    'Names or paths of the operations that it affects; * at the end of a path matches anything. Absent: all.',
    optional<string[]>(routeNames),
  ),
  nth: described(
    'Number of the request that it affects, counted from the start of the session, its last reset, or the time at which the faults were set.',
    optional<number>(integer(1, mostCount)),
  ),
  times: described(
    'With nth: number of consecutive requests that it affects. Default: 1.',
    optional<number>(integer(1, mostCount)),
  ),
  chance: described(
    'The chance that it affects a request, drawn from the seed of the session. Without nth and chance it affects all.',
    optional<number>(number(0, 1)),
  ),
  latency_ms: described(
    'Delay of the answer, in milliseconds. The request is carried out at once.',
    optional<number>(integer(1, mostLatencyMs)),
  ),
  status: described(
    'Status that is returned without carrying out the request. With rate_limit: that of a request beyond the limit; default: 429.',
    optional<number>(errorStatus),
  ),
  body: described(
    'Body of that answer, as JSON text unless error_content_type says otherwise; "" for none, the default.',
    optional<string>(text),
  ),
  headers: described(
    'Headers of that answer: header to value.',
    defaulted<Map<string, string>>(mapOf(headerText), new Map()),
  ),
  drop: described(
    'The connection is closed without an answer, before the request is carried out or after.',
    optional<'before' | 'after'>(oneOf(['before', 'after'])),
  ),
  rate_limit: described(
    'Name of one of [[api.rate_limits]]: requests beyond it are refused, and its headers count.',
    optional<string>(ruleName),
  ),
  limit: described(
    'With rate_limit: requests in a window, if not as the limit has it.',
    optional<number>(integer(1, mostCount)),
  ),
  seconds: described(
    'With rate_limit: length of a window, if not as the limit has it.',
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
    'Whether faults also apply to tools: to a tool that is an operation, the rules of its route; to any other, the rules without routes.',
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
