/** The page around a dashboard: what it is, and the frame that it is shown in. It runs nothing itself. */
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
header p { margin: 0; color: var(--dim); font-size: 12px; overflow-wrap: anywhere }
iframe { flex: 1; width: 100%; border: 0; color-scheme: light dark }
main { margin: auto; max-width: 40rem; padding: 24px; text-align: center; overflow-wrap: anywhere }
main p { margin: 0 0 8px } .dim { color: var(--dim) }
`;

/** Headers of the page: it may look as it does, and show a frame of this service. */
export const pageHeaders = {
  ...apartHeaders,
  ...ownConnections,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'private, no-store',
} as const;

/** Headers of the frame: its own policy, in an origin of its own, without a connection to anywhere. */
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

/** The page, with the frame at an address of this service. */
export const writePage = ({ name, description, kind }: Framed, frame: string): string =>
  whole(
    name,
    `<header><h1>${escapeHtml(name)}</h1><p>${escapeHtml(description ?? `a dashboard of ${words[kind]}`)}</p></header>
<iframe title="${escapeHtml(name)}" sandbox="allow-scripts" referrerpolicy="no-referrer" src="${escapeHtml(frame)}"></iframe>`,
  );

/** What the frame shows where there is nothing to render. */
export const writeFault = (message: string): string =>
  whole(
    'Not rendered',
    `<main role="alert"><p>This dashboard cannot be shown.</p><p class="dim">${escapeHtml(message)}</p></main>`,
  );
