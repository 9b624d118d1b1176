/**
 * The page as one file that loads nothing else. Its policy admits the one script and the one style it
 * carries, by their digests, so that nothing a world says could ever run; what the world says is data in
 * a script element that no browser executes.
 */

import { createHash } from 'node:crypto';
import type { PageModel } from './model.ts';
import { pageScript } from './script.ts';
import { pageStyle } from './style.ts';

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => escapes[character] ?? character);

/** JSON that can neither end its script element nor be misread by an older script engine. */
const embedJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const sourceHash = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const policy = [
  "default-src 'none'",
  `script-src ${sourceHash(pageScript)}`,
  `style-src ${sourceHash(pageStyle)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Everything after the document type. */
export const pageHtml = (model: PageModel): string => {
  const title = escapeHtml(model.title);
  return `<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${pageStyle}</style>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="side" id="side">
<a class="brand" href="${escapeHtml(model.entry)}" id="brand">${title}</a>
<label class="search"><span class="hidden">Filter routes</span><input id="filter" type="search" placeholder="Filter routes" autocomplete="off"></label>
<nav id="nav" aria-label="Routes and entities"></nav>
</header>
<main id="main" tabindex="-1"></main>
<div id="status" class="hidden" role="status" aria-live="polite"></div>
<dialog id="detail" aria-labelledby="detail-title"></dialog>
<noscript>This page needs JavaScript.</noscript>
<script type="application/json" id="world">${embedJson(model)}</script>
<script>${pageScript}</script>
</body>
</html>
`;
};
