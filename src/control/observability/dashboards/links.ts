/**
 * Addresses that show a dashboard to whoever has them, for an hour: the page around it, and the frame in it. What is
 * shown, and until when, stands in the address under a signature of the service.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '#domain/error.ts';
import type { Secret } from '#runtime/secret.ts';
import type { ObservabilityParts } from '../parts.ts';

/** Below the address of the service. */
export const shownPath = '/api/dashboards';
const lifeMs = 60 * 60 * 1_000;

/** What an address shows. Members that are not there are not named in it. */
export type ShownTerms = {
  projectId: string;
  dashboardId: string;
  sessionId?: string;
  taskSetId?: string;
  taskId?: string;
};
const names = ['projectId', 'dashboardId', 'sessionId', 'taskSetId', 'taskId'] as const;

/** `session` leads from a dashboard to the page of one of its sessions, which the address names beside what is signed. */
export type ShownPart = 'page' | 'frame' | 'session';

/** It looks like a token of the service, so that it is hidden wherever those are. */
const signatureOf = (secret: Secret, part: ShownPart, said: readonly (string | null)[]): string =>
  `lt-${secret.derive(`dashboard:${JSON.stringify([part, ...said])}`)}`;

type Given = { [Name in keyof ShownTerms]?: string | null | undefined };

const saidBy = (terms: Given, until: string): (string | null)[] => [
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
  const signature = signatureOf(secret, part, saidBy(terms, until));
  const query = new URLSearchParams([...named, ['until', until], ['signature', signature]]);
  return `${publicUrl()}${shownPath}/${part}?${query}`;
};

/** In seconds since 1970: an hour from now. */
export const hourFromNow = (): string => String(Math.floor((Date.now() + lifeMs) / 1_000));

/** The address of a page, good for an hour. */
export const pageAddress = (
  parts: Pick<ObservabilityParts, 'config' | 'publicUrl'>,
  terms: Given,
): string => addressOf(parts, 'page', terms, hourFromNow());

/** The address of a page that is good as long as another one. */
export const pageAddressUntil = (
  parts: Pick<ObservabilityParts, 'config' | 'publicUrl'>,
  terms: Given,
  until: string,
): string => addressOf(parts, 'page', terms, until);

/** The address that leads to the page of any session of a dashboard, once its id is put behind it. */
export const sessionsAddress = (
  parts: Pick<ObservabilityParts, 'config' | 'publicUrl'>,
  { projectId, dashboardId }: Pick<ShownTerms, 'projectId' | 'dashboardId'>,
  until: string,
): string => `${addressOf(parts, 'session', { projectId, dashboardId }, until)}&session=`;

/** The address of the frame in it, which is good as long as the page is. */
export const frameAddress = (
  parts: Pick<ObservabilityParts, 'config' | 'publicUrl'>,
  terms: Given,
  until: string,
): string => addressOf(parts, 'frame', terms, until);

const refusal = (): AppError =>
  new AppError(
    'forbidden',
    'the address is none that was given out, or its hour is over: render the dashboard again',
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

/** What an address shows, once its signature and its time were looked at; throws `forbidden`. */
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
  const said = saidBy(terms, until);
  // Each value of the secret is looked at, whichever was used.
  const matches = secret.each().map((one) => isSame(signature, signatureOf(one, part, said)));
  const isGood = matches.includes(true) && /^\d{1,15}$/.test(until);
  if (!isGood || Number(until) * 1_000 < Date.now()) throw refusal();
  return { terms: terms as ShownTerms, until };
};
