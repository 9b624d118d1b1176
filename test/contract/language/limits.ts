/** Corpus chapter about rate limits and deliberate faults of the vendor. */
import { type Change, connector, replace } from '../../support/worlds/world-changes.ts';
import type { Rule } from './chapter.ts';

/**
 * Builds a change that adds a limit on requests; `lines` belong to the table of the limit, `headers` to its table of
 * headers.
 */
const limited = (lines: string, headers: string): Change =>
  replace(
    connector,
    '[[operations]]',
    `[[api.rate_limits]]\n${lines}\nlimit = 10\nseconds = 60\n[api.rate_limits.headers]\n${headers}\n\n[[operations]]`,
  );

/** Builds a change that adds a limit called "all" and a rule of faults; `lines` belong to the table of the rule. */
const faulty = (lines: string): Change =>
  replace(
    connector,
    '[[operations]]',
    `[[api.rate_limits]]\nname = "all"\nlimit = 10\nseconds = 60\n[api.rate_limits.headers]\nX-Left = "remaining"\n\n[[api.faults.rules]]\n${lines}\n\n[[operations]]`,
  );

/** Builds a change that adds a rule of faults named "flaky"; `lines` are its other fields. */
const fault = (lines: string): Change => faulty(`name = "flaky"\n${lines}`);

/** Last rules of the chapter about `connector.toml`. */
export const limitRules: readonly Rule[] = [
  {
    rule: '`[[api.rate_limits]]` name served operations, and each header once.',
    accepts: [
      ['a limit of all routes', limited('name = "all"', 'X-Left = "remaining"')],
      [
        'a limit of some routes',
        limited('name = "cards"\npaths = ["/cards*"]\nuncounted = ["/me"]', 'X-Reset = "reset"'),
      ],
    ],
    refuses: [
      ['a limit without a name', 'missing_key', limited('', 'X-Left = "remaining"')],
      ['a limit without headers', 'bad_value', limited('name = "all"', '')],
      ['a header of HTTP itself', 'reserved_name', limited('name = "all"', 'Trailer = "limit"')],
      [
        'two limits of one name',
        'duplicate',
        (w) => {
          limited('name = "all"', 'X-Left = "remaining"')(w);
          limited('name = "all"', 'X-Limit = "limit"')(w);
        },
      ],
      [
        'a path that no operation has',
        'bad_value',
        limited('name = "all"\npaths = ["/card"]', 'X-Left = "remaining"'),
      ],
      [
        'an uncounted path that is only captured',
        'bad_value',
        limited('name = "all"\nuncounted = ["/reports/"]', 'X-Left = "remaining"'),
      ],
      [
        'a path that has * in its middle',
        'bad_value',
        limited('name = "all"\npaths = ["/cards/*/x"]', 'X-Left = "remaining"'),
      ],
      [
        'a header that tells what no limit has',
        'bad_value',
        limited('name = "all"', 'X-Left = "remains"'),
      ],
      ['a header of no name', 'bad_name', limited('name = "all"', '"X Left" = "remaining"')],
      [
        "a header that is the host's own",
        'reserved_name',
        limited('name = "all"', 'ETag = "remaining"'),
      ],
      [
        'one header in two spellings',
        'duplicate',
        limited('name = "all"', 'X-Left = "remaining"\nx-left = "used"'),
      ],
    ],
  },
  {
    rule: '`[api.faults]` have rules that are each of operations that are served and do one thing.',
    accepts: [
      ['a status for every request', fault('status = 503')],
      ['a status at some requests in a row', fault('status = 503\nnth = 2\ntimes = 3')],
      [
        'a status by chance, with words and headers of its own',
        fault(
          'status = 502\nchance = 0.5\nbody = \'{"error":"later"}\'\nheaders = { Retry-After = "1" }',
        ),
      ],
      ['latency on the routes of a path', fault('latency_ms = 50\nroutes = ["/cards*"]')],
      ['latency with a status', fault('latency_ms = 50\nstatus = 504')],
      ['a dropped connection', fault('drop = "after"\nroutes = ["add_card"]')],
      ['a limit that refuses', fault('rate_limit = "all"\nlimit = 3\nstatus = 403')],
    ],
    refuses: [
      ['a rule without a name', 'missing_key', faulty('status = 503')],
      ['a rule that does nothing', 'bad_value', fault('nth = 2')],
      [
        'an operation that there is not',
        'bad_value',
        fault('status = 503\nroutes = ["list_card"]'),
      ],
      [
        'a fault of a path that no operation has',
        'bad_value',
        fault('status = 503\nroutes = ["/card"]'),
      ],
      ['a route that is no name', 'bad_value', fault('status = 503\nroutes = ["List Cards"]')],
      ['no routes', 'bad_value', fault('status = 503\nroutes = []')],
      ['a status of success', 'bad_value', fault('status = 200')],
      ['a status beyond all', 'bad_value', fault('status = 600')],
      ['latency of more than a minute', 'bad_value', fault('latency_ms = 60001')],
      ['a chance of more than 1', 'bad_value', fault('status = 503\nchance = 1.1')],
      ['a chance below 0', 'bad_value', fault('status = 503\nchance = -0.1')],
      ['the request before the first', 'bad_value', fault('status = 503\nnth = 0')],
      ['nth and chance', 'unexpected_key', fault('status = 503\nnth = 1\nchance = 0.5')],
      ['times without nth', 'unexpected_key', fault('status = 503\ntimes = 2')],
      ['a body without a status', 'unexpected_key', fault('latency_ms = 5\nbody = ""')],
      ['a body that is no JSON', 'bad_value', fault('status = 503\nbody = "later"')],
      [
        "a fault with a header that is the host's own",
        'reserved_name',
        fault('status = 503\nheaders = { Connection = "close" }'),
      ],
      ['a header of two lines', 'bad_value', fault('status = 503\nheaders = { X-Why = "a\\nb" }')],
      ['a drop with a status', 'unexpected_key', fault('drop = "before"\nstatus = 503')],
      ['a drop at no time', 'bad_value', fault('drop = "halfway"')],
      ['a limit that is not declared', 'bad_value', fault('rate_limit = "core"')],
      ['a limit with nth', 'unexpected_key', fault('rate_limit = "all"\nnth = 3')],
      ['a limit with routes', 'unexpected_key', fault('rate_limit = "all"\nroutes = ["/me"]')],
      ['a number of requests without a limit', 'unexpected_key', fault('status = 429\nlimit = 3')],
      [
        'two rules of one name',
        'duplicate',
        fault('status = 503\n\n[[api.faults.rules]]\nname = "flaky"\nstatus = 500'),
      ],
      [
        'two rules of one limit',
        'duplicate',
        fault('rate_limit = "all"\n\n[[api.faults.rules]]\nname = "again"\nrate_limit = "all"'),
      ],
      ['a key that rules do not have', 'unknown_key', fault('status = 503\nafter = 3')],
    ],
  },
];
