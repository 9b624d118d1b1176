/**
 * Bundles the files of a dashboard into one script with rolldown. The plugin resolves every import from the pushed
 * files: the bundler reads no file, package or configuration of the machine.
 */
import { type RolldownPlugin, rolldown } from 'rolldown';
import {
  type CodeFile,
  type CodeProblem,
  type CodeProblemCode,
  dashboardModules,
  endingOf,
  isScript,
  dashboardLimits as most,
} from '#domain/dashboard.ts';
import { problemOf } from './check.ts';
import { isKnownModule, isOwnImport, resolveOwn } from './scan.ts';

/** Prefix of pushed paths in module ids; no path of the machine begins with it. */
const own = '\0dashboard/';
const start = '\0start';
const transformPath = 'transform.ts';

/** Global in which the runtime puts the modules that pages may import, see `src/ui/dashboard/main.tsx`. */
const runtime = 'svcDashboard';

const styleScript = (css: string): string =>
  `document.head.append(Object.assign(document.createElement('style'), { textContent: ${JSON.stringify(css)} }));`;

const loadFile = (path: string, content: string) => {
  const ending = endingOf(path);
  if (isScript(path)) return { code: content, moduleType: ending === 'mjs' ? 'js' : ending };
  if (ending === 'css') return { code: styleScript(content), moduleType: 'js' };
  return { code: content, moduleType: ending === 'json' ? 'json' : 'text' };
};

/**
 * Creates the plugin that resolves and loads modules. `startCode` is the entry module; `takes` returns true for modules
 * that stay external.
 */
const pushedFiles = (
  files: ReadonlyMap<string, string>,
  startCode: string,
  takes: (specifier: string) => boolean,
): RolldownPlugin => ({
  name: 'pushed-files',
  resolveId(specifier, importer) {
    if (specifier === start) return start;
    if (specifier.startsWith(own)) return specifier;
    if (isOwnImport(specifier) && importer?.startsWith(own) === true) {
      const found = resolveOwn((path) => files.has(path), importer.slice(own.length), specifier);
      if (found !== undefined) return `${own}${found}`;
    }
    if (takes(specifier)) return { id: specifier, external: true };
    throw new Error(`"${specifier.slice(0, 200)}" cannot be imported`);
  },
  load(id) {
    if (id === start) return { code: startCode, moduleType: 'js' };
    const path = id.slice(own.length);
    const content = files.get(path);
    if (content === undefined) throw new Error(`the dashboard has no file "${path}"`);
    return loadFile(path, content) as { code: string; moduleType: 'js' };
  },
});

type BundlerError = { message: string; id?: string; loc?: { line: number; column: number } };

/** Matches escape codes for terminal colours, which the bundler puts into its messages. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const colours = /\u001b\[[\d;]*m/g;

const withoutPrefix = (text: string): string =>
  text.replaceAll(own, '').replaceAll('\\0dashboard/', '');

const problemIn = ({ message, id = '', loc }: BundlerError, code: CodeProblemCode): CodeProblem => {
  const plain = withoutPrefix(message.replaceAll(colours, ''));
  const [first = ''] = plain.split('\n').filter((line) => line.trim() !== '');
  const path = id.startsWith(own) ? id.slice(own.length) : null;
  const place =
    loc === undefined || path === null ? null : { line: loc.line, column: loc.column + 1 };
  const isTransform = path === transformPath;
  return problemOf(isTransform ? 'transform' : path, code, first.slice(0, 500), place);
};

export type Bundled = { script: string } | { problems: CodeProblem[] };

const globals = Object.fromEntries(
  Object.entries(dashboardModules).map(([name, member]) => [name, `${runtime}.${member}`]),
);

const bundle = async (
  files: ReadonlyMap<string, string>,
  startCode: string,
  how: { name: string; exports: 'named' | 'none'; takes: (specifier: string) => boolean },
): Promise<Bundled> => {
  try {
    await using built = await rolldown({
      input: start,
      // Nothing is read there, because the plugin resolves every import.
      cwd: '/',
      tsconfig: false,
      platform: 'browser',
      logLevel: 'silent',
      transform: { jsx: 'react-jsx' },
      plugins: [pushedFiles(files, startCode, how.takes)],
    });
    const { output } = await built.generate({
      ...{ format: 'iife', name: how.name, exports: how.exports, globals },
      ...{ minify: false, codeSplitting: false, sourcemap: false },
    });
    const [{ code }] = output;
    const bytes = Buffer.byteLength(code);
    if (bytes <= most.builtBytes) return { script: withoutPrefix(code) };
    const message = `the built script has ${bytes} bytes, more than the maximum of ${most.builtBytes}`;
    return { problems: [problemOf(null, 'size', message)] };
  } catch (error) {
    const { errors } = error as { errors?: BundlerError[] };
    if (errors === undefined) throw error;
    return { problems: errors.map((one) => problemIn(one, 'bundle')) };
  }
};

const mapOf = (files: readonly CodeFile[]) =>
  new Map(files.map(({ path, content }) => [path, content]));

/** Bundles the script of the page: it mounts the default export of the entrypoint. */
export const bundlePage = (files: readonly CodeFile[], entrypoint: string): Promise<Bundled> => {
  const startCode = [
    `import * as page from ${JSON.stringify(`${own}${entrypoint}`)};`,
    `import { mount } from 'svc/dashboard';`,
    `if (page.default !== undefined) mount(page.default);`,
  ].join('\n');
  return bundle(mapOf(files), startCode, {
    ...{ name: 'dashboardPage', exports: 'none', takes: isKnownModule },
  });
};

/** Bundles the script of the transform, which sets `svcTransform.default`. */
export const bundleTransform = (
  files: readonly CodeFile[],
  transform: string,
): Promise<Bundled> => {
  const startCode = `export { default } from ${JSON.stringify(`${own}${transformPath}`)};`;
  const all = mapOf(files).set(transformPath, transform);
  return bundle(all, startCode, { name: 'svcTransform', exports: 'named', takes: () => false });
};
