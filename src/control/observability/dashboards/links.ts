/**
 * Signed addresses of a dashboard: of the page, and of the frame in it. For one hour, every holder of an address can see
 * the dashboard. The address states what is shown and when it expires, and the service signs both.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import type { Secret } from '#runtime/secret.ts';
import type { ObservabilityParts } from '../parts.ts';

/** Path of the signed addresses below the URL of the service. */
export const shownPath = '/api/dashboards';
const lifeMs = 60 * 60 * 1_000;

/** Signed content of an address; members that are absent do not appear in the address. */
export type ShownTerms = {
  projectId: string;
  dashboardId: string;
  sessionId?: string;
  taskSetId?: string;
  taskId?: string;
};
const names = ['projectId', 'dashboardId', 'sessionId', 'taskSetId', 'taskId'] as const;

/**
 * Kind of page that an address leads to. `session` leads to the page of one of the dashboard's sessions; the id of that
 * session is in the address but is not signed.
 */
export type ShownPart = 'page' | 'frame' | 'session';

/**
 * Returns the signature. It looks like a service token, so that wherever tokens are redacted, the signature is redacted
 * too.
 */
const signatureOf = (secret: Secret, part: ShownPart, fields: readonly (string | null)[]): string =>
  `lt-${secret.derive(`dashboard:${JSON.stringify([part, ...fields])}`)}`;

type Given = { [Name in keyof ShownTerms]?: string | null | undefined };

const signedFields = (terms: Given, until: string): (string | null)[] => [
  ...names.map((name) => terms[name] ?? null),
  until,
];

const addressOf = (
  { config, publicUrl }: Pick<ObservabilityParts, 'config' | 'publicUrl'>,
  part: ShownPart,
  terms: Given,
  until: string,
): string => {
  const named = names.flatMap((name): [string, string][] => {
    const value = terms[name];
    return value == null ? [] : [[name, value]];
  });
  const [secret] = config.secret.each();
  const signature = signatureOf(secret, part, signedFields(terms, until));
  const query = new URLSearchParams([...named, ['until', until], ['signature', signature]]);
  return `${publicUrl()}${shownPath}/${part}?${query}`;
};

/** Returns the time one hour from now, in seconds since 1970. */
export const hourFromNow = (): string => String(Math.floor((Date.now() + lifeMs) / 1_000));

/** Returns the address of a page, valid for one hour. */
export const pageAddress = (
  parts: Pick<ObservabilityParts, 'config' | 'publicUrl'>,
  terms: Given,
): string => addressOf(parts, 'page', terms, hourFromNow());

/** Returns the address of a page that expires at a given time, for example together with another address. */
export const pageAddressUntil = (
  parts: Pick<ObservabilityParts, 'config' | 'publicUrl'>,
  terms: Given,
  until: string,
): string => addressOf(parts, 'page', terms, until);

/** Returns the address prefix for pages of a dashboard's sessions; the session's id is appended to it. */
export const sessionsAddress = (
  parts: Pick<ObservabilityParts, 'config' | 'publicUrl'>,
  { projectId, dashboardId }: Pick<ShownTerms, 'projectId' | 'dashboardId'>,
  until: string,
): string => `${addressOf(parts, 'session', { projectId, dashboardId }, until)}&session=`;

/** Returns the address of the frame, which expires together with its page. */
export const frameAddress = (
  parts: Pick<ObservabilityParts, 'config' | 'publicUrl'>,
  terms: Given,
  until: string,
): string => addressOf(parts, 'frame', terms, until);

const refusal = (): AppError =>
  new AppError(
    'forbidden',
    'the address is invalid or has expired after its hour: render the dashboard again',
  );

const isSame = (given: string, right: string): boolean => {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(right));
};

const textIn = (query: Record<string, unknown>, name: string): string | undefined => {
  const value = query[name];
  if (value !== undefined && typeof value !== 'string') throw refusal();
  return value;
};

/** Returns the content of an address; throws `forbidden` if its signature is wrong or it has expired. */
export const readShownTerms = (
  secret: Secret,
  part: ShownPart,
  query: Record<string, unknown>,
): { terms: ShownTerms; until: string } => {
  const entries = names.flatMap((name) => {
    const value = textIn(query, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const terms = Object.fromEntries(entries) as Given;
  const [until = '', signature = ''] = [textIn(query, 'until'), textIn(query, 'signature')];
  const fields = signedFields(terms, until);
  // Compares with every value of the secret, so that the time does not depend on which one was used.
  const matches = secret.each().map((one) => isSame(signature, signatureOf(one, part, fields)));
  const isGood = matches.includes(true) && /^\d{1,15}$/.test(until);
  if (!isGood || Number(until) * 1_000 < Date.now()) throw refusal();
  return { terms: terms as ShownTerms, until };
};
