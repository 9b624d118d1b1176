/**
 * Headers that isolate a UI's origin. Its pages load from and send to no other origin, and are shown in no frame. No
 * page of another origin reads what it serves or sends it requests. Pages of other sessions may be of the same site,
 * so the cookie attribute `SameSite` alone does not keep them out.
 */
import { apartHeaders, ownConnections } from '#runtime/page-headers.ts';
import type { UiAnswer } from './service.ts';

const always = {
  ...apartHeaders,
  ...ownConnections,
  'referrer-policy': 'same-origin',
  'origin-agent-cluster': '?1',
};

/**
 * Policy for pages of the world's author, which often have inline scripts and styles. None may load from or send to
 * another origin.
 */
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

/** Policy for answers of an API. A browser shows one as a document only by mistake, and then runs nothing in it. */
const dataPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; sandbox";

/** Headers by which an answer of the world's API would make a browser contact other addresses. */
const sending = new Set([
  ...['refresh', 'reporting-endpoints', 'report-to', 'nel', 'alt-svc'],
  'content-security-policy-report-only',
]);

/** Returns true for a redirect to an origin other than the requested one. */
const isLeaving = (location: string | string[] | undefined, host: string): boolean => {
  if (location === undefined) return false;
  const at = `http://${host}`;
  return !URL.canParse(String(location), at) || new URL(String(location), at).host !== host;
};

/**
 * Returns the headers that an answer of this origin may have. A redirect to another origin loses its `location`, since
 * a browser would send along whatever the page wrote into the request.
 */
const passedHeaders = ({ headers }: UiAnswer, host: string): UiAnswer['headers'] =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => !sending.has(name) && !(name === 'location' && isLeaving(value, host)),
    ),
  );

/**
 * Returns the answer with the headers of the origin, which is at `host`. `kind` is `page` if the answer may be a page
 * of the world's author.
 */
export const withOriginHeaders = (
  answer: UiAnswer,
  kind: 'page' | 'data',
  host: string,
): UiAnswer => ({
  ...answer,
  headers: {
    ...passedHeaders(answer, host),
    ...always,
    'content-security-policy': kind === 'page' ? pagePolicy : dataPolicy,
  },
});
