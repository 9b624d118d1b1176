/**
 * Checks `[ui]`: the directory of a world's page. A push must not leave the directory out, and the language must not
 * use the directory for another purpose. It must contain a page unless compiling writes one.
 */
import { leftOutFolder } from '#domain/tree-path.ts';
import type { UiContract } from '../contract.ts';
import type { UiTable } from '../files/connector/surfaces.ts';
import type { Placed } from '../read/kinds.ts';
import type { Tree } from '../read/tree.ts';

/** Directories of the tree that have another purpose. */
const otherDirectories = [
  'api',
  'captures',
  'data',
  'db',
  'scenarios',
  'schema',
  'tests',
  'verifiers',
];

/** Returns why a page cannot be in a directory, with the way out; undefined if it can. */
const directoryFault = (path: string): [why: string, hint?: string] | undefined => {
  const segments = path.split('/');
  const [first = ''] = segments;
  if (path === '') return ['must not be empty', 'name a directory, for example "ui"'];
  if (path.startsWith('/') || path.includes('\\') || /^[A-Za-z]:/.test(path)) {
    return ['must be a relative path with "/"'];
  }
  if (segments.includes('') || segments.includes('..') || segments.includes('.')) {
    return ['must not have ".", ".." or an empty segment'];
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (path.length > 200 || /[\u0000-\u001f\u007f]/.test(path))
    return ['is not an allowed path in a tree'];
  const built = leftOutFolder(`${path}/`);
  if (built !== undefined) {
    return [
      `is in the folder "${built}", which a push leaves out`,
      'move the page, for example to "ui"',
    ];
  }
  return otherDirectories.includes(first)
    ? [
        `is in the folder "${first}", which has another purpose in a world`,
        'move the page, for example to "ui"',
      ]
    : undefined;
};

/** Paths that every host serves itself, in addition to the page. */
const reservedPaths = ['/__svc', '/.svc'];

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`);

/** Refuses an entry path and an API prefix if one would hide the other, or if the host uses one of them. */
const checkAddresses = ({ place, value }: Placed<UiTable>): void => {
  const { entry, api_path: apiPath } = value;
  const reserved = reservedPaths.find((path) => isWithin(apiPath, path));
  if (reserved !== undefined) {
    const message = `"${apiPath}" is below "${reserved}", which is reserved for hosts`;
    place
      .at('api_path')
      .refuse('bad_value', message, 'choose another prefix, for example "/__world-api"');
  }
  const first = entry.split(/[?#]/, 1)[0] ?? '/';
  const hiding = [apiPath, ...reservedPaths].find((path) => isWithin(first, path));
  if (entry.startsWith('//')) {
    place
      .at('entry')
      .refuse('bad_value', 'begins with "//", which browsers take for the name of another host');
  } else if (hiding !== undefined) {
    place.at('entry').refuse('bad_value', `is below "${hiding}", where the page is not served`);
  }
};

/** Returns the page of a connector; null if there is no table `[ui]`. */
export const checkUi = (tree: Tree, ui: Placed<UiTable> | undefined): UiContract | null => {
  if (ui === undefined) return null;
  checkAddresses(ui);
  const { place, value } = ui;
  const path = value.static.replace(/\/$/, '');
  const fault = directoryFault(path);
  if (fault !== undefined) {
    const [why, hint] = fault;
    place.at('static').refuse('bad_ui_path', `the path "${path.slice(0, 200)}" ${why}`, hint);
  } else if (tree.has(path)) {
    place.at('static').refuse('bad_ui_path', `"${path}" is a file, not a directory`);
  } else if (value.generated === false && !tree.has(`${path}/index.html`)) {
    const message = `the page is written by hand, but ${path}/index.html is not in the tree`;
    place
      .at('static')
      .refuse('missing_file', message, 'write index.html, or leave "generated" out');
  }
  return {
    static: path,
    entry: value.entry,
    apiPath: value.api_path,
    generated: value.generated ?? null,
  };
};
