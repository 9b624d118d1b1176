/**
 * Builds refusals of requests to a surface, in the same form on gateways and hosts: JSON for programs, and an HTML page
 * that loads nothing further for a person in a browser. If another attempt may succeed, the page repeats the request by
 * itself.
 */
import type { SurfaceKind } from '#domain/session.ts';
import { apartHeaders, ownConnections } from './page-headers.ts';

export type SurfaceRefusal = {
  status: number;
  code: string;
  message: string;
  details: Record<string, unknown>;
  /** Seconds after which another attempt may succeed; absent if no attempt will. */
  retryAfterS?: number;
};

export const refusal = (
  status: number,
  code: string,
  message: string,
  details: Record<string, unknown> = {},
): SurfaceRefusal => ({ status, code, message, details });

/** Builds a refusal of a request that may succeed on a later attempt. */
export const later = (
  status: number,
  code: string,
  message: string,
  retryAfterS: number,
  details: Record<string, unknown> = {},
): SurfaceRefusal => ({
  ...refusal(status, code, message, { ...details, retryAfterMs: retryAfterS * 1_000 }),
  retryAfterS,
});

export const noSuchSurface = (sessionId: string, surface: SurfaceKind): SurfaceRefusal =>
  refusal(404, 'no_such_surface', `${sessionId} has no surface "${surface}"`, {
    sessionId,
    surface,
  });

export const surfaceAway = (sessionId: string, surface: SurfaceKind): SurfaceRefusal =>
  later(503, 'surface_away', `the surface "${surface}" of ${sessionId} is being prepared`, 1, {
    sessionId,
    surface,
  });

export const routeUnknown = (sessionId: string): SurfaceRefusal =>
  later(503, 'route_unknown', `the host of ${sessionId} cannot be looked up at present`, 1, {
    sessionId,
  });

export const notEntered = (sessionId: string): SurfaceRefusal =>
  refusal(401, 'unauthenticated', `${sessionId} can be opened only by a one-time link`, {
    sessionId,
  });

export const foreignOrigin = (sessionId: string): SurfaceRefusal =>
  refusal(
    403,
    'foreign_origin',
    `a page of another origin must not send requests to ${sessionId}`,
    {
      sessionId,
    },
  );

export const linkUsed = (sessionId: string): SurfaceRefusal =>
  refusal(
    401,
    'link_used',
    'this link was already used, has expired, or belongs to another session; ask for a new link',
    {
      sessionId,
    },
  );

export const wrongMethod = (): SurfaceRefusal =>
  refusal(405, 'method_not_allowed', 'a one-time link must be opened with GET');

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/**
 * Capitalises a message to make it a sentence; messages begin in lower case for logs and JSON. A message that begins
 * with an id is not capitalised.
 */
const asSentence = (message: string): string =>
  `${message.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase())}.`;

const wayIn = `<p>The person who opened the session can make a link: <code>svc worlds session link &lt;session&gt;</code>, or
<code>POST /world-sessions/{sessionId}/links</code>. Each link admits one browser, once.</p>`;

const adviceOn = ({ status, retryAfterS }: SurfaceRefusal): string => {
  if (status === 401) return wayIn;
  return retryAfterS === undefined ? '' : '<p>This page repeats the request by itself.</p>';
};

/** Returns the refusal as an HTML page. */
export const refusalPage = (refusal: SurfaceRefusal): string => {
  const { status, message, retryAfterS } = refusal;
  const title =
    status === 401 ? 'You need a link to open this session' : 'This page cannot be shown';
  const again =
    retryAfterS === undefined ? '' : `<meta http-equiv="refresh" content="${retryAfterS}">`;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8">${again}<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>${title}</title>
<body style="font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 4rem auto; padding: 0 1rem">
<h1>${title}</h1>
<p>${escapeHtml(asSentence(message))}</p>
${adviceOn(refusal)}
</body></html>
`;
};

/** Returns the refusal as JSON. */
export const refusalJson = ({ code, message, details }: SurfaceRefusal): string =>
  JSON.stringify({ error: { code, message, details } });

/**
 * Headers of refusals, as JSON or HTML. A refusal is served from the requested page's origin, whose scripts could
 * access the refusal, so the refusal gets the same restrictions as the page.
 */
const closedHead = [
  ...Object.entries({ ...apartHeaders, ...ownConnections }).flat(),
  ...['referrer-policy', 'no-referrer'],
  ...[
    'content-security-policy',
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ],
];

/** Headers of each form, as a list in which each name is followed by its value. */
export const refusalJsonHead = ['content-type', 'application/json; charset=utf-8', ...closedHead];
export const refusalPageHead = ['content-type', 'text/html; charset=utf-8', ...closedHead];

/** Returns true if a request accepts HTML, as requests of browsers do and requests of programs do not. */
export const wantsPage = (method: string | undefined, accept: string | undefined): boolean =>
  (method === 'GET' || method === 'HEAD') && accept?.includes('text/html') === true;
