/**
 * Why a surface is not shown, told alike by gateways and hosts: to programs as JSON, and to a person who opens a
 * surface in a browser as a page in words, which loads nothing else. Where another try may help, the page makes it
 * by itself.
 */

export type SurfaceRefusal = {
  status: number;
  code: string;
  message: string;
  details: Record<string, unknown>;
  /** Seconds after which trying again may help. */
  retryAfterS?: number;
};

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const wayIn = `<p>Whoever opened the session can make a link: <code>svc worlds session link &lt;session&gt;</code>, or
<code>POST /world-sessions/{sessionId}/links</code>. Each link lets in one browser, once.</p>`;

const adviceOn = ({ status, retryAfterS }: SurfaceRefusal): string => {
  if (status === 401) return wayIn;
  return retryAfterS === undefined ? '' : '<p>This page tries again by itself.</p>';
};

/** The refusal as an HTML page. */
export const refusalPage = (refusal: SurfaceRefusal): string => {
  const { status, message, retryAfterS } = refusal;
  const title = status === 401 ? 'You have not entered this session' : 'This cannot be shown';
  const again =
    retryAfterS === undefined ? '' : `<meta http-equiv="refresh" content="${retryAfterS}">`;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8">${again}<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>${title}</title>
<body style="font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 4rem auto; padding: 0 1rem">
<h1>${title}</h1>
<p>${escapeHtml(message)}.</p>
${adviceOn(refusal)}
</body></html>
`;
};

/** The refusal as JSON. */
export const refusalJson = ({ code, message, details }: SurfaceRefusal): string =>
  JSON.stringify({ error: { code, message, details } });

/** Headers of each, as names and values in turn. */
export const refusalJsonHead = ['content-type', 'application/json; charset=utf-8'];
export const refusalPageHead = [
  ...['content-type', 'text/html; charset=utf-8'],
  ...[
    'content-security-policy',
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  ],
];

/** Whether somebody asks for a page, and not a program for an answer. */
export const wantsPage = (method: string | undefined, accept: string | undefined): boolean =>
  (method === 'GET' || method === 'HEAD') && accept?.includes('text/html') === true;
