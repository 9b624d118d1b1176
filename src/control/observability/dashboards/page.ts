/**
 * Writes the page around a dashboard: its title, and the frame that shows it. The page's own script does one thing.
 * When the frame names a session, the script navigates to the page of that session, because the frame itself cannot
 * navigate. The address comes from the service; the frame, which runs user code, chooses only the session.
 */
import { hash } from 'node:crypto';
import type { DashboardKind } from '#domain/dashboard.ts';
import { apartHeaders, noConnections, ownConnections } from '#runtime/page-headers.ts';
import { escapeHtml } from './document.ts';

const style = `
:root { color-scheme: light dark; --line: light-dark(#dfe3e8, #32373f); --dim: light-dark(#59626e, #a3acb8) }
* { box-sizing: border-box }
html, body { height: 100% }
body { margin: 0; display: flex; flex-direction: column; font: 14px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif;
  background: light-dark(#fff, #16181c); color: light-dark(#1b1f24, #e6e9ee) }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 12px; padding: 8px 16px; border-bottom: 1px solid var(--line) }
h1 { margin: 0; font-size: 14px; font-weight: 600; overflow-wrap: anywhere }
a { color: light-dark(#1f5fd0, #8ab4ff) }
header p { margin: 0; color: var(--dim); font-size: 12px; overflow-wrap: anywhere }
iframe { flex: 1; width: 100%; border: 0; color-scheme: light dark }
main { margin: auto; max-width: 40rem; padding: 24px; text-align: center; overflow-wrap: anywhere }
main p { margin: 0 0 8px } .dim { color: var(--dim) }
`;

const script = `addEventListener('message', ({ source, data }) => {
  const frame = document.querySelector('iframe');
  if (source !== frame.contentWindow || typeof data?.openSession !== 'string') return;
  if (frame.dataset.sessions) location.assign(frame.dataset.sessions + encodeURIComponent(data.openSession));
});`;

/** Headers of the page. They allow inline styles, the page's own script, and a frame of this service. */
export const pageHeaders = {
  ...apartHeaders,
  ...ownConnections,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; script-src 'sha256-${hash('sha256', script, 'base64')}'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-store',
} as const;

/** Returns the headers of the frame: the policy of its document, an opaque origin, and no connections. */
export const frameHeaders = (policy: string) =>
  ({
    ...pageHeaders,
    ...noConnections,
    'content-security-policy': `${policy}; sandbox allow-scripts; frame-ancestors 'self'`,
  }) as const;

const whole = (title: string, body: string): string =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><style>${style}</style></head><body>${body}</body></html>
`;

const words: Readonly<Record<DashboardKind, string>> = {
  session: 'a session',
  task: 'tasks',
  environment: 'a world',
};

export type Framed = { name: string; description: string | null; kind: DashboardKind };

/**
 * Addresses on this service: `frame` is the frame, `sessions` the prefix of session pages, and `back` the dashboard to
 * return to.
 */
export type PageAddresses = { frame: string; sessions?: string; back?: string };

const backLink = (back: string | undefined): string =>
  back === undefined ? '' : `<a href="${escapeHtml(back)}">← All sessions</a>`;

const sessionsOf = (sessions: string | undefined): string =>
  sessions === undefined ? '' : ` data-sessions="${escapeHtml(sessions)}"`;

/** Writes the page of a dashboard: a heading, and an iframe that shows the dashboard. */
export const writePage = (
  { name, description, kind }: Framed,
  { frame, sessions, back }: PageAddresses,
): string =>
  whole(
    name,
    `<header>${backLink(back)}<h1>${escapeHtml(name)}</h1><p>${escapeHtml(description ?? `a dashboard of ${words[kind]}`)}</p></header>
<iframe title="${escapeHtml(name)}" sandbox="allow-scripts" referrerpolicy="no-referrer" src="${escapeHtml(frame)}"${sessionsOf(sessions)}></iframe><script>${script}</script>`,
  );

/** Writes the content of the frame if there is nothing to render. */
export const writeFault = (message: string): string =>
  whole(
    'Not rendered',
    `<main role="alert"><p>This dashboard cannot be shown.</p><p class="dim">${escapeHtml(message)}</p></main>`,
  );
