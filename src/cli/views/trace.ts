/** Formats traces, observations and trace sessions for a person. */
import type {
  ObservationView,
  TraceDetail,
  TraceSessionDetail,
  TraceView,
} from '#wire/public-api/observability/trace.ts';
import type { View } from '../terminal/context.ts';
import { cutLine, formatAgo, formatFields } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

const valueChars = 2_000;

/** Formats dollars with enough digits to show small amounts. */
export const dollars = (amount: number | null): string => {
  if (amount === null || amount < 0) return '-';
  if (amount === 0) return '$0';
  return amount >= 0.01 ? `$${amount.toFixed(2)}` : `$${amount.toPrecision(2)}`;
};

export const seconds = (length: number | null): string => {
  if (length === null || length < 0) return '-';
  return length < 1 ? `${Math.round(length * 1_000)} ms` : `${length.toFixed(1)} s`;
};

/** Formats the level of an observation; `-` for the default level. */
const levelText = ({ level }: ObservationView): string =>
  level === 'DEFAULT' ? '-' : level.toLowerCase();

const json = (value: unknown): string | null => {
  if (value === null || value === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return cutLine(text, valueChars);
};

export const listTraces = (traces: readonly TraceView[], view: View): string =>
  formatFitted(
    ['TRACE', 'NAME', 'USER', 'TOOK', 'COST', 'BEGAN'],
    traces.map(({ id, name, userId, latency, totalCost, timestamp }) => [
      ...[id, cutLine(name ?? '-'), cutLine(userId ?? '-')],
      ...[seconds(latency), dollars(totalCost), formatAgo(timestamp)],
    ]),
    view,
    { none: 'no traces', leftOut: ['USER'], cut: ['NAME'] },
  );

export const listObservations = (observations: readonly ObservationView[], view: View): string =>
  formatFitted(
    ['OBSERVATION', 'TYPE', 'NAME', 'MODEL', 'LEVEL', 'TOKENS', 'COST', 'TOOK', 'BEGAN'],
    observations.map((one) => [
      ...[one.id, one.type.toLowerCase(), cutLine(one.name ?? '-')],
      ...[cutLine(one.model ?? '-'), levelText(one)],
      ...[
        one.totalTokens === 0 ? '-' : String(one.totalTokens),
        dollars(one.calculatedTotalCost),
        seconds(one.latency),
      ],
      formatAgo(one.startTime),
    ]),
    view,
    { none: 'no observations', leftOut: ['TYPE'], cut: ['MODEL', 'NAME'] },
  );

type Placed = { depth: number; observation: ObservationView };

/** Orders observations as a tree, siblings by time. An observation whose parent is not in the list is a root. */
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
  // Observations that are one another's parents are not in the tree, so they are appended.
  const left = observations.filter(({ id }) => !seen.has(id));
  return [...placed, ...left.map((observation) => ({ depth: 0, observation }))];
};

const mostIndent = 20;
const stepHead = ['STEP', 'TYPE', 'MODEL', 'TOOK', 'COST', 'LEVEL'];

export const describeTrace = (trace: TraceDetail, view: View): string => {
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
    `${'  '.repeat(Math.min(depth, mostIndent))}${cutLine(one.name ?? one.id)}`,
    ...[one.type.toLowerCase(), cutLine(one.model ?? '-')],
    ...[seconds(one.latency), dollars(one.calculatedTotalCost)],
    levelText(one),
  ]);
  const scores = trace.scores.map(({ name, value, stringValue, comment }) => [
    cutLine(name),
    String(stringValue ?? value ?? '-'),
    cutLine(comment ?? ''),
  ]);
  return [
    fields,
    ...(steps.length === 0
      ? []
      : ['', formatFitted(stepHead, steps, view, { cut: ['MODEL', 'STEP'] })]),
    ...(scores.length === 0
      ? []
      : ['', formatFitted(['SCORE', 'VALUE', 'COMMENT'], scores, view, { cut: ['COMMENT'] })]),
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

export const listTraceSessions = (sessions: readonly Session[], view: View): string =>
  formatFitted(
    ['SESSION', 'ENVIRONMENT', 'BEGAN'],
    sessions.map(({ id, environment, createdAt }) => [...[id, environment, formatAgo(createdAt)]]),
    view,
    { none: 'no trace sessions', cut: ['ENVIRONMENT'] },
  );

export const describeTraceSession = (
  { traces, ...session }: TraceSessionDetail,
  view: View,
): string =>
  [
    formatFields([
      ['session', session.id],
      ['environment', session.environment],
      ['began', session.createdAt],
    ]),
    '',
    formatFitted(
      ['TRACE', 'NAME', 'BEGAN'],
      traces.map(({ id, name, timestamp }) => [
        ...[id, cutLine(name ?? '-'), formatAgo(timestamp)],
      ]),
      view,
      { none: 'this session has no traces', cut: ['NAME'] },
    ),
  ].join('\n');
