/** Requests to sessions as a person reads them, one a line. */

import { isObject } from '#domain/json.ts';
import { makeVisible } from '#domain/visible-text.ts';
import type { LedgerEntry } from '#wire/host-api/ledger.ts';
import type { RequestView } from '#wire/public-api/request.ts';
import type { Colors } from '../terminal/context.ts';
import { cut, formatChanges, formatDuration, formatTable } from '../terminal/print.ts';

/** A row of the entity `svc_requests` of a session, as the API shows it. */
export const requestOfRow = (
  sessionId: string,
  { duration_ms: durationMs, call_id: callId, ...row }: LedgerEntry,
): RequestView => ({ sessionId, durationMs, callId, ...row });

const titles = ['VIA', 'OPERATION', 'REQUEST', 'STATUS', 'TOOK', 'CHANGES'];

/** Whether a declared fault took part in what became of a request. */
const hasFault = (response: unknown): boolean => isObject(response) && 'faults' in response;

/** The status of an answer, or the code of the error that a call failed with; marked where a fault took part. */
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

/** Why a receiver gave no answer, or a subscription was passed over; nothing for what has a status. */
const reasonOf = ({ status, response }: RequestView): string => {
  if ((status ?? 0) !== 0 || !isObject(response) || typeof response.reason !== 'string') return '';
  return `: ${cut(makeVisible(response.reason), mostReasonChars)}`;
};

/** An address as a browser went to it; those of the session's own page without their origin. */
const placeOf = ({ path, sessionId }: RequestView): string[] => {
  if (path === null) return [];
  const url = URL.parse(path);
  const isOwn = url?.hostname.startsWith(`${sessionId}--ui.`);
  return [cut(makeVisible(isOwn ? `${url?.pathname}${url?.search}` : path), mostUrlChars)];
};

/** Where a browser did what it did, and what it says of it: a message, a file's name, what was refused and why. */
const browserActOf = (act: RequestView): string => {
  const { name, what, message, why } = isObject(act.request) ? act.request : {};
  const words = [name, what, message, why].filter((word) => typeof word === 'string');
  return [...placeOf(act), ...words.map((word) => cut(makeVisible(word), mostReasonChars))].join(
    ': ',
  );
};

/** What was asked: method and path; of a webhook the URL that it goes to, and of an answer its delivery. */
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
  Object.keys(request.changes).length === 0 ? '-' : formatChanges(request.changes),
];

/** Requests of one session, by the time of day. */
export const describeLedger = (requests: readonly RequestView[], colors: Colors): string => {
  if (requests.length === 0) return 'no requests';
  return formatTable([
    ['AT', ...titles].map(colors.dim),
    ...requests.map((request) => [request.at.slice(11, 23), ...cellsOf(request)]),
  ]);
};

/** Requests to several sessions, by date and time, each with its session. */
export const describeRequests = (requests: readonly RequestView[], colors: Colors): string => {
  if (requests.length === 0) return 'no requests';
  return formatTable([
    ['AT', 'SESSION', ...titles].map(colors.dim),
    ...requests.map((request) => [
      request.at.slice(0, 19).replace('T', ' '),
      request.sessionId,
      ...cellsOf(request),
    ]),
  ]);
};

/** What the world said of a request that it refused, in few words; nothing of others. */
const refusalOf = ({ status, response }: RequestView): string => {
  if ((status ?? 0) < 400 || !isObject(response)) return '';
  const { reason, body } = response;
  const said = isObject(body) ? (body.message ?? body.error) : undefined;
  const text = typeof reason === 'string' ? reason : said;
  return typeof text === 'string' ? cut(makeVisible(text), mostReasonChars) : '';
};

/** One request as it comes, on a line of its own. */
export const requestLine = (request: RequestView, colors: Colors): string => {
  const [via = '', operation = '', asked = '', status = '', ...rest] = cellsOf(request);
  const isRefused = (request.status ?? 0) >= 400;
  return [
    colors.dim(request.at.slice(11, 23)),
    via === 'api' ? '' : via,
    isRefused ? colors.red(status) : status,
    asked === '-' ? operation : asked,
    ...rest.filter((cell) => cell !== '-'),
    refusalOf(request),
  ]
    .filter((cell) => cell !== '')
    .join('  ');
};
