/**
 * Headers that keep a UI's origin to itself: its pages load from nowhere else and send nothing there, are shown in no
 * frame, and no other page reads what it serves or sends it anything. Other sessions' pages may be of the same site, so
 * `SameSite` of a cookie alone does not keep them out.
 */
import { apartHeaders, ownConnections } from '#runtime/page-headers.ts';
import type { UiAnswer } from './service.ts';

const always = {
  ...apartHeaders,
  ...ownConnections,
  'referrer-policy': 'same-origin',
  'origin-agent-cluster': '?1',
};

/** Pages are written by the world's author, often with scripts and styles in them; none may leave its origin. */
const pagePolicy = [
  "default-src 'self' data: blob:",
  "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' blob:",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self' data: blob:",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** What an API answers is shown by itself only by mistake, and runs nothing then. */
const dataPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; sandbox";

/** Headers by which an answer of the world's API would have a browser speak with other addresses. */
const sending = new Set([
  ...['refresh', 'reporting-endpoints', 'report-to', 'nel', 'alt-svc'],
  'content-security-policy-report-only',
]);

/** Returns true for a redirect to another origin than the one that was asked for. */
const isLeaving = (location: string | string[] | undefined, host: string): boolean => {
  if (location === undefined) return false;
  const at = `http://${host}`;
  return !URL.canParse(String(location), at) || new URL(String(location), at).host !== host;
};

/**
 * Returns the headers that a page of this origin may be answered with. A redirect that leaves the origin loses its
 * address: a browser would follow it with whatever the page wrote into the request.
 */
const keptHeaders = ({ headers }: UiAnswer, host: string): UiAnswer['headers'] =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => !sending.has(name) && !(name === 'location' && isLeaving(value, host)),
    ),
  );

/**
 * Returns the answer with the headers of the origin, which is at `host`; `kind` says whether pages of the world's
 * author are among these answers.
 */
export const withOriginHeaders = (
  answer: UiAnswer,
  kind: 'page' | 'data',
  host: string,
): UiAnswer => ({
  ...answer,
  headers: {
    ...keptHeaders(answer, host),
    ...always,
    'content-security-policy': kind === 'page' ? pagePolicy : dataPolicy,
  },
});
