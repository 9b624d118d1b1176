/** Formats sessions for a person. */
import { usualSize } from '#domain/pool.ts';
import type { SessionListView, SessionView } from '#wire/public-api/sessions/session.ts';
import type { Colors, View } from '../terminal/context.ts';
import {
  cutLine,
  elapsedMs,
  formatAgo,
  formatDuration,
  formatFields,
  wrapLines,
} from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

const stateText = (session: Pick<SessionView, 'state' | 'endReason'>, colors: Colors): string => {
  const { state, endReason } = session;
  const ended = endReason === null ? '' : ` (${endReason})`;
  if (state === 'READY') return colors.green(state);
  if (state === 'FAILED') return colors.red(`${state}${ended}`);
  return `${state}${ended}`;
};

/**
 * Formats the clock of a session: `stepped by 60 s from 2026-03-01T00:00:00.000Z`; undefined for the machine's own
 * clock.
 */
const clockText = ({ clock: { at, mode, rate } }: SessionView): string | undefined => {
  const start = at === null ? '' : ` from ${at}`;
  if (mode === 'stepped') return `stepped by ${rate} s${start}`;
  if (mode === 'frozen') return at === null ? 'frozen' : `frozen at ${at}`;
  if (at === null && rate === 1) return undefined;
  return `runs${start}${rate === 1 ? '' : `, ${rate} times as fast`}`;
};

const indent = '  ';

/** Formats an instruction, indented and wrapped to the terminal. */
const instructionText = (text: string, columns: number): string =>
  text
    .trim()
    .split('\n')
    .flatMap((line) => wrapLines(line, columns - indent.length))
    .map((line) => (line === '' ? '' : `${indent}${line}`))
    .join('\n');

/** Formats the time from the request until the session was ready: `after 12 ms, on a reused host`. */
const readyText = (session: SessionView): string | undefined => {
  const ms = elapsedMs(session.createdAt, session.readyAt);
  if (ms === undefined) return undefined;
  return `after ${formatDuration(ms)}${session.hostReused ? ', on a reused host' : ''}`;
};

/** Formats the browser: `ready, standard: https://…/view`; undefined without a browser. */
const browserText = ({ surfaces: { browser } }: SessionView): string | undefined => {
  if (browser === undefined) return undefined;
  const { state, tier, url } = browser;
  return `${state}, ${tier}${url === undefined ? '' : `: ${url}`}`;
};

/** Formats a session with all that is needed to use it. */
export const describeSession = (session: SessionView, { colors, columns }: View): string => {
  const { surfaces, task, instruction } = session;
  const fields = formatFields([
    ['session', colors.bold(session.id)],
    ['world', `${session.slug} (${session.versionId})`],
    ['state', stateText(session, colors)],
    ['ready', readyText(session)],
    [
      'error',
      session.error === null ? undefined : `${session.error.code}: ${session.error.message}`,
    ],
    ['size', session.size],
    ['isolation', session.isolation ?? undefined],
    ['task', task === null ? undefined : cutLine(task.name ?? task.form)],
    ['verdict', session.verdict === null ? undefined : verdictText(session, colors)],
    ['build', buildText(session)],
    ['api', surfaces.api?.url],
    ['mcp', surfaces.mcp?.url],
    ['token', surfaces.api?.token ?? surfaces.mcp?.token],
    ['ui', surfaces.ui?.url],
    ['enter', surfaces.ui === undefined ? undefined : `svc worlds session link ${session.id}`],
    ['browser', browserText(session)],
    ['cdp', surfaces.browser?.cdpUrl],
    ['cdp token', surfaces.browser?.token],
    [
      'see it',
      surfaces.browser === undefined
        ? undefined
        : `svc worlds session link ${session.id} --surface browser`,
    ],
    ['tools', session.tools.map(({ name }) => name).join(', ') || undefined],
    ['clock', clockText(session)],
    ['trace', session.traceId ?? undefined],
    ['trace session', session.traceSessionId ?? undefined],
    ['seed', session.seed === null ? undefined : String(session.seed)],
    ['pinned', session.pinned ? 'yes' : undefined],
    ['run', session.run === null ? undefined : `${session.run.id} (${session.run.kind})`],
    ['active', session.closedAt === null ? formatAgo(session.lastActivityAt) : undefined],
    ['closed', session.closedAt === null ? undefined : formatAgo(session.closedAt)],
  ]);
  return instruction === null ? fields : `${fields}\n\n${instructionText(instruction, columns)}`;
};

type Graded = Pick<SessionView, 'verdict' | 'score'>;

const verdictText = ({ verdict, score }: Graded, colors: Colors): string => {
  if (verdict === null) return '-';
  const color = { pass: colors.green, fail: colors.red, unknown: colors.yellow }[verdict];
  return `${color(verdict)}${score === null ? '' : `, score ${score.toFixed(2)}`}`;
};

/** Returns the version of a build if it has one, else its hash. */
const buildText = ({ build }: Pick<SessionView, 'build'>): string | undefined =>
  build === null
    ? undefined
    : `${cutLine(build.agentId, 30)} ${cutLine(build.version ?? build.buildHash, 24)}`;

const listHead = [
  ...['SESSION', 'WORLD', 'STATE', 'VERDICT', 'SCORE', 'TASK', 'RUN', 'BUILD'],
  ...['SIZE', 'PINNED', 'CREATED'],
];

const listLine = (session: SessionListView, colors: Colors): string[] => [
  ...[session.id, session.slug, stateText(session, colors)],
  verdictText({ verdict: session.verdict, score: null }, colors),
  session.score?.toFixed(2) ?? '-',
  cutLine(session.task?.name ?? '-'),
  cutLine(session.run?.id ?? '-'),
  buildText(session) ?? '-',
  session.size === usualSize ? '-' : session.size,
  session.pinned ? 'yes' : '-',
  formatAgo(session.createdAt),
];

/** Formats the sessions of a project, newest first. */
export const listSessions = (sessions: readonly SessionListView[], view: View): string =>
  formatFitted(
    listHead,
    sessions.map((session) => listLine(session, view.colors)),
    view,
    { none: 'no sessions: svc worlds session open <world>' },
  );
