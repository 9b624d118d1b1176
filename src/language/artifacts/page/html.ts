/**
 * Builds the HTML document of the page. The document loads the application's files, pinned by digests, and nothing
 * else. Its policy allows only its own origin, so that no content of a world can run as code.
 */
import { createHash } from 'node:crypto';
import type { TreeFile } from '#domain/world.ts';

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => escapes[character] ?? character);

const integrityOf = ({ content }: Pick<TreeFile, 'content'>): string =>
  `sha384-${createHash('sha384').update(content).digest('base64')}`;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Files that the document loads, by their URL on the page's origin. */
export type PageParts = {
  title: string;
  script: { address: string; content: Uint8Array };
  style: { address: string; content: Uint8Array };
  model: { address: string; content: Uint8Array };
};

/** Returns the document without the document type at its beginning. */
export const pageHtml = ({ title, script, style, model }: PageParts): string => `<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="preload" as="fetch" crossorigin href="${model.address}">
<link rel="stylesheet" href="${style.address}" integrity="${integrityOf(style)}">
<title>${escapeHtml(title)}</title>
</head>
<body>
<div id="app" data-model="${model.address}" data-integrity="${integrityOf(model)}"></div>
<noscript>This page needs JavaScript.</noscript>
<script type="module" src="${script.address}" integrity="${integrityOf(script)}"></script>
</body>
</html>
`;
