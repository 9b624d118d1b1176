/** Traces, observations and sessions of traces as a person reads them. */
import type {
  ObservationView,
  TraceDetail,
  TraceSessionDetail,
  TraceView,
} from '#wire/public-api/trace.ts';
import { cutLine, formatAgo, formatFields, formatTable } from '../terminal/print.ts';

const nameChars = 50;
const valueChars = 2_000;

export const orNone = (lines: readonly string[][], none: string): string =>
  lines.length === 1 ? none : formatTable(lines);

/** Dollars with as many places as it takes to tell them from nothing. */
export const dollars = (amount: number | null): string => {
  if (amount === null || amount < 0) return '-';
  if (amount === 0) return '$0';
  return amount >= 0.01 ? `$${amount.toFixed(2)}` : `$${amount.toPrecision(2)}`;
};

export const seconds = (length: number | null): string => {
  if (length === null || length < 0) return '-';
  return length < 1 ? `${Math.round(length * 1_000)} ms` : `${length.toFixed(1)} s`;
};

const json = (value: unknown): string | null => {
  if (value === null || value === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return cutLine(text, valueChars);
};

export const listTraces = (traces: readonly TraceView[]): string =>
  orNone(
    [
      ['TRACE', 'NAME', 'USER', 'TOOK', 'COST', 'BEGAN'],
      ...traces.map(({ id, name, userId, latency, totalCost, timestamp }) => [
        ...[id, cutLine(name ?? '-', nameChars), cutLine(userId ?? '-', nameChars)],
        ...[seconds(latency), dollars(totalCost), formatAgo(timestamp)],
      ]),
    ],
    'no traces',
  );

export const listObservations = (observations: readonly ObservationView[]): string =>
  orNone(
    [
      ['OBSERVATION', 'TYPE', 'NAME', 'MODEL', 'LEVEL', 'TOKENS', 'COST', 'TOOK', 'BEGAN'],
      ...observations.map((one) => [
        ...[one.id, one.type.toLowerCase(), cutLine(one.name ?? '-', nameChars)],
        ...[cutLine(one.model ?? '-', nameChars), one.level.toLowerCase()],
        ...[String(one.totalTokens), dollars(one.calculatedTotalCost), seconds(one.latency)],
        formatAgo(one.startTime),
      ]),
    ],
    'no observations',
  );

type Placed = { depth: number; observation: ObservationView };

/** Observations below those that they are in, each in the order of time; what is in none that is here comes first. */
const placeAll = (observations: readonly ObservationView[]): Placed[] => {
  const ids = new Set(observations.map(({ id }) => id));
  const below = Map.groupBy(observations, ({ id, parentObservationId: parent }) =>
    parent !== null && parent !== id && ids.has(parent) ? parent : '',
  );
  const placed: Placed[] = [];
  const seen = new Set<string>();
  const waiting = (below.get('') ?? []).map((observation) => ({ depth: 0, observation })).reverse();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next.observation.id)) continue;
    seen.add(next.observation.id);
    placed.push(next);
    const depth = next.depth + 1;
    const inner = (below.get(next.observation.id) ?? []).toReversed();
    waiting.push(...inner.map((observation) => ({ depth, observation })));
  }
  // Those that name each other as parents are in no tree.
  const left = observations.filter(({ id }) => !seen.has(id));
  return [...placed, ...left.map((observation) => ({ depth: 0, observation }))];
};

const mostIndent = 20;

export const describeTrace = (trace: TraceDetail): string => {
  const fields = formatFields([
    ['trace', trace.id],
    ['name', trace.name],
    ['user', trace.userId],
    ['session', trace.sessionId],
    ['environment', trace.environment],
    ['tags', trace.tags.length === 0 ? null : trace.tags.join(', ')],
    ['began', trace.timestamp],
    ['took', seconds(trace.latency)],
    ['cost', dollars(trace.totalCost)],
    ['input', json(trace.input)],
    ['output', json(trace.output)],
  ]);
  const steps = placeAll(trace.observations).map(({ depth, observation: one }) => [
    `${'  '.repeat(Math.min(depth, mostIndent))}${cutLine(one.name ?? one.id, nameChars)}`,
    ...[one.type.toLowerCase(), cutLine(one.model ?? '-', nameChars)],
    ...[seconds(one.latency), dollars(one.calculatedTotalCost)],
    one.level === 'DEFAULT' ? '' : one.level.toLowerCase(),
  ]);
  const scores = trace.scores.map(({ name, value, stringValue, comment }) => [
    cutLine(name, nameChars),
    String(stringValue ?? value ?? '-'),
    cutLine(comment ?? '', nameChars),
  ]);
  return [
    fields,
    ...(steps.length === 0
      ? []
      : ['', formatTable([['STEP', 'TYPE', 'MODEL', 'TOOK', 'COST', ''], ...steps])]),
    ...(scores.length === 0 ? [] : ['', formatTable([['SCORE', 'VALUE', 'COMMENT'], ...scores])]),
  ].join('\n');
};

export const describeObservation = (one: ObservationView): string =>
  formatFields([
    ['observation', one.id],
    ['trace', one.traceId],
    ['name', one.name],
    ['type', one.type.toLowerCase()],
    ['level', one.level.toLowerCase()],
    ['status', one.statusMessage],
    ['began', one.startTime],
    ['took', seconds(one.latency)],
    ['model', one.model],
    ['usage', Object.keys(one.usageDetails).length === 0 ? null : json(one.usageDetails)],
    ['cost', one.calculatedTotalCost === null ? null : dollars(one.calculatedTotalCost)],
    ['priced by', one.modelId === null ? null : `${one.modelId}, ${one.usagePricingTierName}`],
    ['input', json(one.input)],
    ['output', json(one.output)],
  ]);

type Session = { id: string; environment: string; createdAt: string };

export const listTraceSessions = (sessions: readonly Session[]): string =>
  orNone(
    [
      ['SESSION', 'ENVIRONMENT', 'BEGAN'],
      ...sessions.map(({ id, environment, createdAt }) => [
        ...[cutLine(id, nameChars), environment, formatAgo(createdAt)],
      ]),
    ],
    'no sessions of traces',
  );

export const describeTraceSession = ({ traces, ...session }: TraceSessionDetail): string =>
  [
    formatFields([
      ['session', session.id],
      ['environment', session.environment],
      ['began', session.createdAt],
    ]),
    '',
    orNone(
      [
        ['TRACE', 'NAME', 'BEGAN'],
        ...traces.map(({ id, name, timestamp }) => [
          ...[id, cutLine(name ?? '-', nameChars), formatAgo(timestamp)],
        ]),
      ],
      'no traces in it',
    ),
  ].join('\n');
