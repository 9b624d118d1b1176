/** Starter code of new dashboards, from the folder `starters/`. Its files have the form of files that users push. */
import { existsSync, readFileSync } from 'node:fs';
import type { DashboardCode, DashboardKind, DashboardTemplate } from '#domain/dashboard.ts';

const fileIn = (folder: string, name: string): URL =>
  new URL(`./starters/${folder}/${name}`, import.meta.url);

const transformFile = 'transform.js';

const read = (folder: string, names: readonly string[]): DashboardCode => {
  const transform = fileIn(folder, transformFile);
  return {
    files: names.map((path) => ({ path, content: readFileSync(fileIn(folder, path), 'utf8') })),
    entrypoint: names[0] ?? null,
    transform: existsSync(transform) ? readFileSync(transform, 'utf8') : null,
  };
};

/** Returns the code that a new dashboard of a kind begins with. */
export const starterOf = (kind: DashboardKind, template: DashboardTemplate): DashboardCode => {
  if (template === 'empty') return read('empty', ['dashboard.jsx']);
  return kind === 'session'
    ? read('session', ['dashboard.jsx', 'charts.jsx'])
    : read('tasks', ['dashboard.jsx', 'charts.jsx']);
};
