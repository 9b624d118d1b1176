/** Formats requests to sessions for a person, one a line. */

import { isObject } from '#domain/json.ts';
import { makeVisible } from '#domain/visible-text.ts';
import type { LedgerEntry } from '#wire/host-api/ledger.ts';
import type { RequestView } from '#wire/public-api/sessions/request.ts';
import type { Colors, View } from '../terminal/context.ts';
import { cut, formatChanges, formatDuration, formatTable, wrapLines } from '../terminal/print.ts';
import { type Cells, cutColumn, excessOf, formatBlock, type Table } from './fitted-table.ts';
import { failureReason } from './reason.ts';

/** Converts a row of a session's entity `svc_requests` into the form of the API. */
export const requestOfRow = (
  sessionId: string,
  { duration_ms: durationMs, call_id: callId, ...row }: LedgerEntry,
): RequestView => ({ sessionId, durationMs, callId, ...row });

const noChanges = '-';

const titles = ['VIA', 'OPERATION', 'REQUEST', 'STATUS', 'TOOK', 'CHANGES'];

/** Returns true if a declared fault affected a request. */
const hasFault = (response: unknown): boolean => isObject(response) && 'faults' in response;

/**
 * Formats the status of an answer, or the error code of a failed call. If a declared fault affected it, a mark is
 * added.
 */
const statusOf = (request: RequestView): string => {
  const { response } = request;
  if (!hasFault(response)) return plainStatusOf(request);
  const isDropped = request.status === null && request.method !== null;
  return `${isDropped ? 'dropped' : plainStatusOf(request)} (fault)`;
};

const plainStatusOf = ({ status, response, via }: RequestView): string => {
  if (status !== null) return String(status);
  if (via === 'webhook-skipped') return 'skipped';
  const error = isObject(response) ? response.error : undefined;
  return isObject(error) && typeof error.code === 'string' ? error.code : '-';
};

const mostUrlChars = 60;
const mostReasonChars = 80;

/** Formats why a receiver gave no answer, or why a subscription was skipped; '' for a request that has a status. */
const reasonOf = ({ status, response }: RequestView): string => {
  if ((status ?? 0) !== 0 || !isObject(response) || typeof response.reason !== 'string') return '';
  return `: ${cut(makeVisible(response.reason), mostReasonChars)}`;
};

/** Formats the address of a browser's request, without the origin if that is the session's own page. */
const placeOf = ({ path, sessionId }: RequestView): string[] => {
  if (path === null) return [];
  const url = URL.parse(path);
  const isOwn = url?.hostname.startsWith(`${sessionId}--ui.`);
  return [cut(makeVisible(isOwn ? `${url?.pathname}${url?.search}` : path), mostUrlChars)];
};

/**
 * Formats an event of a browser: the address, and details such as a message, the name of a file, or the reason of a
 * refusal.
 */
const browserActOf = (act: RequestView): string => {
  const { name, what, message, why } = isObject(act.request) ? act.request : {};
  const words = [name, what, message, why].filter((word) => typeof word === 'string');
  return [...placeOf(act), ...words.map((word) => cut(makeVisible(word), mostReasonChars))].join(
    ': ',
  );
};

/** Formats the request: method and path; for a webhook its URL, and for the answer to a webhook its delivery. */
const askedOf = (asked: RequestView): string => {
  const { method, path, request, via } = asked;
  if (via === 'browser') return browserActOf(asked) || '-';
  if (method === null) return '-';
  const { url, delivery } = via.startsWith('webhook') && isObject(request) ? request : {};
  if (typeof url === 'string')
    return `${method} ${cut(makeVisible(url), mostUrlChars)}${reasonOf(asked)}`;
  if (typeof delivery === 'number') return `answer to #${delivery}${reasonOf(asked)}`;
  return `${`${method} ${path ?? ''}`.trim()}${via === 'webhook-skipped' ? reasonOf(asked) : ''}`;
};

const cellsOf = (request: RequestView): string[] => [
  request.via,
  request.operation ?? '-',
  askedOf(request),
  statusOf(request),
  formatDuration(request.durationMs),
  Object.keys(request.changes).length === 0 ? noChanges : formatChanges(request.changes),
];

const indent = '    ';

type LedgerRow = { cells: string[]; below: string[] };
type Ledger = { table: Table; below: string[][] };

/** Moves the changes to a line below their request. Cuts requests, then operations, to the available width. */
const narrow = (head: Cells, rows: readonly LedgerRow[], columns: number): Ledger => {
  const moved = { head: head.slice(0, -1), lines: rows.map(({ cells }) => cells.slice(0, -1)) };
  const table = cutColumn(cutColumn(moved, 'REQUEST', columns), 'OPERATION', columns);
  const below = rows.map((row) => {
    const changes = row.cells.at(-1) ?? noChanges;
    return changes === noChanges ? row.below : [...row.below, `changed ${changes}`];
  });
  return { table, below };
};

const indented = (texts: readonly string[], columns: number): string[] =>
  texts
    .flatMap((text) =>
      Number.isFinite(columns) ? wrapLines(text, columns - indent.length) : [text],
    )
    .map((line) => `${indent}${line}`);

/** Formats a table, or blocks if the table does not fit, with the reason below each failed request. */
const formatLedger = (
  lead: readonly string[],
  requests: readonly RequestView[],
  leadOf: (request: RequestView) => string[],
  view: View,
): string => {
  const { colors, columns } = view;
  const head = [...lead, ...titles];
  const given = requests.map((request): LedgerRow => {
    const reason = failureReason(request);
    return {
      cells: [...leadOf(request), ...cellsOf(request)],
      below: reason === '' ? [] : [reason],
    };
  });
  const whole = {
    table: { head, lines: given.map(({ cells }) => cells) },
    below: given.map(({ below }) => below),
  };
  const fitted = excessOf(whole.table, columns) <= 0 ? whole : narrow(head, given, columns);
  if (excessOf(fitted.table, columns) > 0) {
    return given
      .flatMap(({ cells, below }) => [formatBlock(head, cells, view), ...indented(below, columns)])
      .join('\n');
  }
  const { table, below } = fitted;
  const [first = '', ...lines] = formatTable([table.head, ...table.lines]).split('\n');
  const rows = lines.flatMap((line, index) => [line, ...indented(below[index] ?? [], columns)]);
  return [colors.dim(first), ...rows].join('\n');
};

/** Formats the requests of one session by time of day, with the reason below each failed one. */
export const describeLedger = (requests: readonly RequestView[], view: View): string => {
  if (requests.length === 0) return 'no requests';
  return formatLedger(['AT'], requests, ({ at }) => [at.slice(11, 23)], view);
};

/** Formats requests to several sessions, by date and time, each with its session. */
export const describeRequests = (requests: readonly RequestView[], view: View): string => {
  if (requests.length === 0) return 'no requests';
  const leadOf = ({ at, sessionId }: RequestView) => [at.slice(0, 19).replace('T', ' '), sessionId];
  return formatLedger(['AT', 'SESSION'], requests, leadOf, view);
};

/** Formats one request of a live session on a line. */
export const requestLine = (request: RequestView, colors: Colors): string => {
  const [via = '', operation = '', asked = '', status = '', ...rest] = cellsOf(request);
  const isRefused = (request.status ?? 0) >= 400;
  return [
    colors.dim(request.at.slice(11, 23)),
    via === 'api' ? '' : via,
    isRefused ? colors.red(status) : status,
    asked === '-' ? operation : asked,
    ...rest.filter((cell) => cell !== '-'),
    failureReason(request),
  ]
    .filter((cell) => cell !== '')
    .join('  ');
};
