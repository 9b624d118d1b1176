/**
 * Headers that isolate a UI's origin. Pages of this origin load from and send to no other origin, and are shown in no
 * frame. A page of another origin can neither read what this origin serves nor send requests to it. Pages of other
 * sessions may be of the same site, so the cookie attribute `SameSite` alone does not keep them out.
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
 * Content security policy for pages of the world's author, which often have inline scripts and styles. Pages may
 * neither load from nor send to another origin.
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

/**
 * Content security policy for answers of an API. A browser shows such an answer as a document only by mistake; the
 * policy then prevents the document from running code.
 */
const dataPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; sandbox";

/** Headers of an API answer that would make a browser send requests to other addresses. */
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
 * Returns the headers that an answer of this origin may have. A redirect to another origin loses its `location`,
 * because the browser would send the content of the page's request to that origin.
 */
const passedHeaders = ({ headers }: UiAnswer, host: string): UiAnswer['headers'] =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => !sending.has(name) && !(name === 'location' && isLeaving(value, host)),
    ),
  );

/**
 * Returns the answer with the headers that isolate the origin; `host` is the origin's host. `kind` is `page` if the
 * answer may be a page of the world's author.
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
