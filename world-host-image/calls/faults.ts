/**
 * Call `faults`: returns the declared faults in force and how many requests they applied to, or sets other faults until
 * the next reset. The input is the table `[api.faults]` of `connector.toml` as JSON, `{rules: [], tools?}`, or
 * `{declared: true}` to restore the declared faults.
 */
import { isObject } from '#domain/json.ts';
import { readFaults } from '#language/check/faults.ts';
import type { Fault, Faults, Row } from '#language/contract.ts';
import { faultsKeys } from '#language/files/connector/faults.ts';
import { createPlace, createProblems } from '#language/read/place.ts';
import { readTable } from '#language/read/table.ts';
import type { HostCall } from '#wire/host-api/operations.ts';
import type { SessionFaults } from '../session/faults.ts';
import type { LoadedWorld } from '../session/session.ts';
import { CallFailure } from './answers/failure.ts';
import { type RunCall, refuseUnknown } from './call.ts';

/** Returns true if the input sets faults; an empty input only reads them. */
export const isSetting = (input: HostCall['input']): boolean =>
  isObject(input) && Object.keys(input).length > 0;

/** Maximum number of problems in an error. */
const mostProblems = 50;

const readGiven = ({ contract }: LoadedWorld, input: Row): Faults => {
  const problems = createProblems();
  const place = createPlace(problems, '');
  const { routes = [], errorContentType = 'application/json', rateLimits } = contract.api ?? {};
  const api = { routes, errorContentType, ...(rateLimits === undefined ? {} : { rateLimits }) };
  const faults = readFaults(place, readTable(place, input, faultsKeys), api);
  const [first, ...others] = problems.list();
  if (first === undefined) return faults;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const hint = first.hint === undefined ? '' : `; ${first.hint}`;
  throw new CallFailure({
    code: 'invalid_input',
    message: `${first.pointer || 'the input'}: ${first.message}${hint}${more}`,
    path: first.pointer,
    details: {
      problems: [first, ...others]
        .slice(0, mostProblems)
        .map(({ pointer: path, code, message }) => ({ path, code, message })),
    },
  });
};

/** Returns the faults that the input sets. Throws `CallFailure` if they are invalid. */
const readInput = (world: LoadedWorld, input: Row): Faults | 'declared' => {
  if (!Object.hasOwn(input, 'declared')) return readGiven(world, input);
  refuseUnknown(input, ['declared']);
  if (input.declared === true) return 'declared';
  const message = 'declared must be true; {"rules": []} turns all faults off';
  throw new CallFailure({ code: 'invalid_input', message, path: '/declared' });
};

/** Returns a rule in the form of the input. */
const writeRule = ({ name, routes, when, latencyMs, effect }: Fault): Row => {
  const written: Row = {
    name,
    ...(routes === undefined ? {} : { routes }),
    ...when,
    ...(latencyMs === undefined ? {} : { latency_ms: latencyMs }),
  };
  if (effect?.kind === 'drop') return { ...written, drop: effect.at };
  if (effect === undefined) return written;
  const { status, body, headers } = effect;
  const answer = { ...written, status, body, headers };
  if (effect.kind === 'status') return answer;
  const { limit, most, seconds, retryAfter } = effect;
  return { ...answer, rate_limit: limit, limit: most, seconds, retry_after: retryAfter };
};

/**
 * Returns the faults in force, in the form of the input. For each rule, `met` has the number of requests that the rule
 * was checked against, and the number that it applied to.
 */
const shown = (faults: SessionFaults): Row => {
  const { isDeclared, tools, rules, counts } = faults.view();
  return {
    declared: isDeclared,
    faults: { tools, rules: rules.map(writeRule) },
    met: rules.map(({ name }, index) => ({ name, ...counts[index] })),
  };
};

export const callFaults: RunCall = async (session, _call, input) => {
  const { faults, world } = session;
  const given = isSetting(input) ? readInput(world, input) : undefined;
  return world.store.exclusively(() => {
    if (given !== undefined) faults.set(given);
    return { output: shown(faults), changes: {} };
  });
};
