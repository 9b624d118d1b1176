/** Serves the files of the live view, as built from `src/ui/view` (`make ui`), and the page that loads them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export type PageFile = { type: string; text: string };

const folder = join(import.meta.dirname, '../view/built');

const files: Readonly<Record<string, { type: string; name: string }>> = {
  '/view/app.css': { type: 'text/css; charset=utf-8', name: 'app.css' },
  '/view/app.js': { type: 'text/javascript; charset=utf-8', name: 'app.js' },
  '/view/licences.txt': { type: 'text/plain; charset=utf-8', name: 'licences.txt' },
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** Builds the page; with `refused`, a page that shows this reason instead of the view. */
export const viewPage = (refused?: string): PageFile => ({
  type: 'text/html; charset=utf-8',
  text: `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Browser of the session</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/view/app.css" />
    <script type="module" src="/view/app.js"></script>
  </head>
  <body>
    <div id="app"${refused === undefined ? '' : ` data-refused="${escaped(refused)}"`}></div>
  </body>
</html>
`,
});

/** Reads the file at a path; returns undefined if there is none. */
export const pageFile = async (path: string): Promise<PageFile | undefined> => {
  const file = Object.hasOwn(files, path) ? files[path] : undefined;
  if (file === undefined) return undefined;
  return { type: file.type, text: await readFile(join(folder, file.name), 'utf8') };
};
