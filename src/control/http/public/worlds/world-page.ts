/**
 * Writes the HTML page of a world. The address of a world (its `url`) answers programs with a descriptor, and browsers
 * with this page. The page is one file that loads nothing and runs no code. Everything that comes from the world is
 * escaped as text.
 */
import { apartHeaders } from '#runtime/page-headers.ts';
import type { WorldDetail } from '#wire/public-api/worlds/world.ts';

const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (sign) => signs[sign] ?? '');

/** Maximum number of entries that the page shows of a list; it shows only the number of the remaining entries. */
const most = 200;

const style = `
:root { color-scheme: light dark; --line: light-dark(#d8dbe0, #34383f); --dim: light-dark(#5b626c, #9aa1ab);
  --accent: light-dark(#1c5fb0, #7fb4f5); --soft: light-dark(#f5f6f8, #1d2025);
  --warn: light-dark(#b7791f, #d6a14a); }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; font: 0.875rem/1.5 system-ui, sans-serif;
  background: light-dark(#fff, #15171a); color: light-dark(#1b1f24, #e4e7eb) }
h1 { font-size: 1.375rem; line-height: 1.25; margin: 0 } h2 { font-size: 0.9375rem; margin: 2rem 0 0.5rem }
p { margin: 0.5rem 0; max-width: 45rem; overflow-wrap: anywhere } .dim, h2 span, dt { color: var(--dim); font-weight: 400 }
code, .mono { font: 0.8125rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: 0.5rem 0.75rem; overflow-x: auto; margin: 0.5rem 0 }
dl { display: grid; grid-template-columns: 8rem 1fr; gap: 0.25rem 1rem; margin: 1rem 0 } dd { margin: 0; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: 0.25rem 1rem 0.25rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere } th { color: var(--dim); font-weight: 400 } .n { text-align: right; white-space: nowrap; padding-right: 0 }
.brief { width: 8rem } .brief, .brief code, th { overflow-wrap: break-word } .several code { margin-right: 0.75rem } .warning { border-left: 3px solid var(--warn); padding-left: 0.75rem; margin: 1rem 0 }
a { color: var(--accent) } .mark { border: 1px solid var(--line); border-radius: 4px; padding: 0 0.375rem; margin-left: 0.5rem; color: var(--dim); font-size: 0.75rem; white-space: nowrap }
a code { color: inherit } ul { margin: 0; padding: 0; list-style: none; columns: 16rem } li { overflow-wrap: anywhere; break-inside: avoid }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; gap: 0 } dt { margin-top: 0.5rem } .brief { width: 1% } }
`;

/**
 * Headers of the page: the policy allows its inline style and forbids everything else. Its links lead to the service.
 */
export const pageHeaders = {
  ...apartHeaders,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;

const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;
const count = (number: number): string => number.toLocaleString('en');

const section = (title: string, items: number, body: string, empty: string): string =>
  `<h2>${title} <span>${count(items)}</span></h2>${items === 0 ? `<p class="dim">${empty}</p>` : body}`;

const more = (items: number): string =>
  items > most ? `<p class="dim">and ${count(items - most)} more</p>` : '';

const listOf = (names: readonly string[]): string => {
  const shown = names.slice(0, most).map((name) => `<li>${code(name)}</li>`);
  return `<ul>${shown.join('')}</ul>${more(names.length)}`;
};

const tableOf = (head: readonly string[], rows: readonly (readonly [string, number])[]): string => {
  const [name, number] = head.map(escapeHtml);
  const shown = rows
    .slice(0, most)
    .map(([text, value]) => `<tr><td>${code(text)}</td><td class="n">${count(value)}</td></tr>`);
  return `<table><tr><th>${name}</th><th class="n">${number}</th></tr>${shown.join('')}</table>${more(rows.length)}`;
};

/** Formats a time for people; the `title` attribute has the exact time. */
const timeOf = (at: string): string => {
  const exact = escapeHtml(at);
  const shown = exact.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/, '$1 $2 UTC');
  return `<time datetime="${exact}" title="${exact}">${shown}</time>`;
};

const factsOf = ({ slug, path, version, head, surfaces, links }: WorldDetail): string => {
  const newest = head.id === version.id ? 'the newest' : `the newest is ${count(head.number)}`;
  const facts: [string, string][] = [
    ['Slug', code(slug)],
    ['Path', code(path)],
    [
      'Version',
      `${count(version.number)} <span class="dim">(${newest})</span> ${code(version.id)}`,
    ],
    ['Made', `${timeOf(version.createdAt)} <span class="dim">by ${version.origin}</span>`],
    ...(version.message === null
      ? []
      : [['Message', escapeHtml(version.message)] satisfies [string, string]]),
    ['Content', code(version.contentHash)],
    ['Surfaces', surfaces.length === 0 ? 'tools only' : surfaces.map(code).join(' ')],
    ['API', `<a href="${escapeHtml(links.world)}">${escapeHtml(links.world)}</a>`],
  ];
  return `<dl>${facts.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join('')}</dl>`;
};

const redactOf = ({ redact }: WorldDetail): string => {
  if (redact === null) return '';
  const { slug, hash, drop, preserve, round } = redact;
  const rounded = Object.entries(round).map(([field, kept]) => `${field} (${kept})`);
  const modes = Object.entries({ hash, drop, preserve, round: rounded }).filter(
    ([, fields]) => fields.length > 0,
  );
  const rows = modes.map(
    ([mode, fields]) =>
      `<tr><td class="brief">${mode}</td><td class="several">${fields.map(code).join(' ')}</td></tr>`,
  );
  return `<h2>Redaction policy <span>salt ${code(slug)}</span></h2><table><tr><th>mode</th><th>fields</th></tr>${rows.join('')}</table>`;
};

const dependenciesOf = ({ dependencies }: WorldDetail): string => {
  if (dependencies.length === 0) return '';
  const rows = dependencies.map(
    ({ alias, slug, version, tools }) =>
      `<tr><td class="brief">${code(alias)}</td><td class="brief"><a href="/world/${escapeHtml(`${slug}@${version}`)}">${code(`${slug}@${version}`)}</a></td><td class="several">${tools.map(code).join(' ')}</td></tr>`,
  );
  return `<h2>Linked worlds <span>${count(rows.length)}</span></h2><table><tr><th>alias</th><th>world</th><th>tools</th></tr>${rows.join('')}</table>`;
};

/** Writes the page of a world. */
export const writeWorldPage = (world: WorldDetail): string => {
  const { slug, name, description, version, tools, tasks, files, warnings, archivedAt } = world;
  const rows = Object.entries(version.entityCounts);
  const total = rows.reduce((sum, [, value]) => sum + value, 0);
  const task = tasks[0] === undefined ? '' : ` -t ${tasks[0]}`;
  const command = `svc worlds session open ${slug}${task}`;
  const mark = archivedAt === null ? '' : '<span class="mark">archived</span>';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(name)}</title><style>${style}</style></head><body>
<h1>${escapeHtml(name)}${mark}</h1>
${description === null ? '' : `<p>${escapeHtml(description)}</p>`}
${factsOf(world)}
<pre><code>${escapeHtml(command)}</code></pre>
${warnings.map((warning) => `<p class="warning">${escapeHtml(warning)}</p>`).join('')}
<h2>Rows <span>${count(total)}</span></h2>${tableOf(['entity', 'rows'], rows)}
${section('Tools', tools.length, listOf(tools), 'It declares none.')}
${section('Tasks', tasks.length, listOf(tasks), 'It brings none: a session can be opened with a task of yours.')}
${dependenciesOf(world)}${redactOf(world)}
<h2>Files <span>${count(files.length)}</span></h2>${tableOf(
    ['path', 'bytes'],
    files.map(({ path, sizeBytes }) => [path, sizeBytes]),
  )}
</body></html>
`;
};
