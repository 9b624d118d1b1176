/**
 * What a person sees where a surface cannot be shown: the refusal in words, on a page that loads nothing
 * else. Where another try may help, the page makes it by itself.
 */
import type { IncomingMessage } from 'node:http';
import type { SurfaceKind } from '#domain/session.ts';
import type { Refusal } from '../http/refusals.ts';
import { isSafe } from '../http/target.ts';

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const wayIn = `<p>Whoever opened the session can make a link: <code>POST /world-sessions/{sessionId}/links</code>. Each
link lets in one browser, once.</p>`;

const adviceOn = ({ status, retryAfterS }: Refusal): string => {
  if (status === 401) return wayIn;
  return retryAfterS === undefined ? '' : '<p>This page tries again by itself.</p>';
};

const write = (refusal: Refusal): string => {
  const { status, message, retryAfterS } = refusal;
  const title = status === 401 ? 'You have not entered this session' : 'This cannot be shown';
  const again =
    retryAfterS === undefined ? '' : `<meta http-equiv="refresh" content="${retryAfterS}">`;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8">${again}<title>${title}</title>
<body style="font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 4rem auto; padding: 0 1rem">
<h1>${title}</h1>
<p>${escapeHtml(message)}.</p>
${adviceOn(refusal)}
</body></html>
`;
};

/** The page in place of a surface for people, for whoever asks for one; undefined for programs. */
export const pageFor = (
  { method, headers }: IncomingMessage,
  surface: SurfaceKind,
  refusal: Refusal,
): string | undefined => {
  const isPage = isSafe(method) && headers.accept?.includes('text/html') === true;
  return surface !== 'api' && isPage ? write(refusal) : undefined;
};
