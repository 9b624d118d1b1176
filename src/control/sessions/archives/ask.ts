/** Reads the record of a session from its host, page by page. All pages describe the same state of the session. */
import { Ajv } from 'ajv';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { RecordPage } from '#wire/host-api/session-archive.ts';
import { askHost, unreadable } from '../calls/ask-host.ts';
import type { SessionParts } from '../parts.ts';

export type SessionAsked = { projectId: string; sessionId: string };

const isPage = new Ajv({ strict: true, formats: { 'date-time': true } }).compile<RecordPage>(
  RecordPage,
);

/** Maximum number of pages in one archive. It stops a host that sends pages without end. */
const mostPages = 400;

/** Maximum number of attempts, because the session may change during the export. */
const mostTries = 5;

const lost =
  'the rows of the session were lost with its host; export a session before it is closed';

const askPage = async (
  parts: SessionParts,
  asked: SessionAsked,
  input: Pick<RecordPage, 'stamp'> & { from: RecordPage['next'] },
  signal: AbortSignal,
): Promise<RecordPage | 'moved'> => {
  const { sessionId } = asked;
  const inputJson = input.from === null ? '{}' : JSON.stringify(input);
  const question = { ...asked, kind: 'export', inputJson, lost } as const;
  const answer = await askHost(parts, { ...question, mostChars: limits.callOutputBytes }, signal);
  if (answer.ok) {
    if (isPage(answer.value)) return answer.value;
    throw unreadable(sessionId, 'the answer is no page of the record of a session');
  }
  const { code, message = 'the host gave no reason' } = answer.error;
  if (code === 'moved') return 'moved';
  if (code === 'too_large') throw new AppError('conflict', `${sessionId}: ${message}`);
  throw unreadable(sessionId, message);
};

/**
 * Passes each page on when it arrives. Returns false if the session changed between two pages. Throws the errors of
 * `askHost`.
 */
const passPages = async (
  parts: SessionParts,
  asked: SessionAsked,
  write: (page: RecordPage) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> => {
  let next: RecordPage['next'] = null;
  let stamp = '';
  for (let pages = 0; pages < mostPages; pages += 1) {
    const page = await askPage(parts, asked, { from: next, stamp }, signal);
    if (page === 'moved') return false;
    await write(page);
    if (page.next === null) return true;
    ({ next, stamp } = page);
  }
  throw new AppError(
    'conflict',
    `the record of ${asked.sessionId} has more pages than an archive can have`,
  );
};

/**
 * Reads the record of a session page by page, all pages of the same state. If the session changes before the last page,
 * starts over; each attempt begins with a call of `begin`.
 * @throws `conflict` if the session has ended, or changes during every attempt.
 */
export const passRecord = async (
  parts: SessionParts,
  asked: SessionAsked,
  begin: () => Promise<{ write(page: RecordPage): Promise<void> }>,
  signal: AbortSignal,
): Promise<void> => {
  for (let tries = 0; tries < mostTries; tries += 1) {
    if (await passPages(parts, asked, (await begin()).write, signal)) return;
  }
  const message = `${asked.sessionId} changed during every attempt to export it; export the session while it is not in use`;
  throw new AppError('conflict', message);
};
