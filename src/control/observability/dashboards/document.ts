/**
 * Writes the document of a rendered dashboard: one file with its data, the modules that pages may import, and its
 * script. The document is shown in a frame that may only run scripts. Its own policy also allows nothing else: it loads
 * nothing and connects to nothing.
 */
import { readFileSync } from 'node:fs';
import type { RenderTarget } from '#wire/public-api/observability/dashboard.ts';

const builtFile = (name: string): string =>
  readFileSync(new URL(`./built/${name}`, import.meta.url), 'utf8');

/** Built script and style, read once because they do not change while the program runs. */
let parts: { script: string; style: string } | undefined;

const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => signs[sign] ?? '');

/** Policy of the document, for its `meta` element and its headers. */
export const documentPolicy = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Escapes JSON for use inside an element, so that no text in it ends the element. */
const inlineJson = (json: string): string => json.replaceAll('<', '\\u003c');

/**
 * Escapes our own script for use inside an element. The script contains the escaped sequences only in string literals.
 */
const inlineScript = (script: string): string => script.replaceAll(/<(?=\/script|!--)/gi, '\\x3c');

export type Shown = {
  title: string;
  script: string;
  dataJson: string;
  about: { kind: string; target: RenderTarget };
};

/** Writes the document. */
export const writeDocument = ({ title, script, dataJson, about }: Shown): string => {
  parts ??= { script: inlineScript(builtFile('app.js')), style: builtFile('app.css') };
  // The pushed script is a text within the data, which our script inserts into the page; so it cannot end an element.
  const given = `"target":${JSON.stringify(about)},"script":${JSON.stringify(script)}`;
  const data = inlineJson(`{"data":${dataJson},${given}}`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${documentPolicy.replaceAll('"', '&quot;')}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title><style>${parts.style}</style></head><body>
<div id="dashboard"></div>
<script type="application/json" id="dashboard-data">${data}</script>
<script>${parts.script}</script>
</body></html>
`;
};
