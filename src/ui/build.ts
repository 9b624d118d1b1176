/**
 * Builds the applications that we ship: that of generated pages, which compiling writes into worlds, the pages of
 * templates, the live view, which a browser serves, and what dashboards stand on. Each is one script and one style, with
 * the licences of what they are built from. What is
 * built is kept in the tree, beside the program that serves it (`make ui`), and `built.test.ts` holds it to the
 * sources; equal sources and packages give equal bytes.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rolldown } from 'rolldown';

const here = (path: string): string => new URL(path, import.meta.url).pathname;

type Recipe = {
  entry: string;
  /** In the order in which later ones win. */
  styles: readonly string[];
  /** The document, where no program of ours writes it. */
  document?: string;
  /** Files of ours in the place of packages, of which no more is wanted than what they export. */
  instead?: Readonly<Record<string, string>>;
  /** Where the built files are kept. */
  folder: string;
};

/** What every page of rows looks like. */
const shared = ['tokens', 'base', 'shell', 'pieces', 'list', 'row', 'form'];

export const applications = {
  /** Of generated pages. */
  page: {
    entry: 'main.tsx',
    styles: shared,
    folder: '../language/artifacts/page/built/',
  },
  /** Of the template `code-hosting`. */
  'code-hosting': {
    entry: 'code-hosting/main.tsx',
    styles: [...shared, 'frame', 'items', 'issue', 'text'],
    document: 'code-hosting/index.html',
    folder: '../templates/code-hosting/ui/',
  },
  /** Of the template `issue-tracking`. */
  'issue-tracking': {
    entry: 'issue-tracking/main.tsx',
    styles: [...shared, 'frame', 'items', 'issue', 'text', 'issue-tracking/tracker'],
    document: 'issue-tracking/index.html',
    folder: '../templates/issue-tracking/ui/',
  },
  /** Of the template `device-management`. */
  'device-management': {
    entry: 'device-management/main.tsx',
    styles: [...shared, 'frame', 'items', 'device-management/device'],
    document: 'device-management/index.html',
    folder: '../templates/device-management/ui/',
  },
  /** Of a session's browser. */
  view: {
    entry: 'view/main.tsx',
    styles: ['tokens', 'base', 'pieces', 'view'],
    folder: '../../browser-image/view/built/',
  },
  /** What the pages of dashboards stand on. */
  dashboard: {
    entry: 'dashboard/main.tsx',
    styles: ['tokens', 'base', 'pieces', 'dashboard'],
    instead: {
      'd3-axis': 'dashboard/lean/nothing.ts',
      'd3-geo': 'dashboard/lean/nothing.ts',
      'd3-random': 'dashboard/lean/nothing.ts',
      'd3-scale-chromatic': 'dashboard/lean/colours.js',
    },
    folder: '../control/observability/dashboards/built/',
  },
} as const satisfies Readonly<Record<string, Recipe>>;
export type ApplicationName = keyof typeof applications;

export const applicationNames = Object.keys(applications) as ApplicationName[];

const withoutComments = (css: string): string =>
  css.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\s*\n\s*/g, '\n');

/** The folder of the package that a module is of; undefined for a module of ours. */
const packageOf = (module: string): string | undefined =>
  /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1];

/** Packages name the file of their licence each in their way. */
const licenceIn = (folder: string): string => {
  const name = readdirSync(folder).find((file) => /^licen[cs]e(\.md|\.txt)?$/i.test(file));
  if (name === undefined) throw new Error(`${folder} has no licence to be passed on`);
  return readFileSync(`${folder}/${name}`, 'utf8').replaceAll('\r\n', '\n').trim();
};

/** The packages that are in the script, and what their licences ask to be passed on with them. */
const licencesOf = (modules: readonly string[]): string => {
  const folders = [...new Set(modules.flatMap((module) => packageOf(module) ?? []))];
  const byText = new Map<string, string[]>();
  for (const folder of folders.toSorted()) {
    const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const text = licenceIn(folder);
    byText.set(text, [...(byText.get(text) ?? []), `* ${name} ${version}`]);
  }
  const parts = [...byText].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`);
  return `The application beside this file was built from these packages.\n\n${parts.join('\n\n')}`;
};

const bundle = async ({ entry, instead = {} }: Recipe) => {
  const files = Object.entries(instead).map(([name, file]) => [name, here(file)]);
  const built = await rolldown({
    input: here(entry),
    platform: 'browser',
    resolve: { alias: Object.fromEntries(files) },
    // What is left out of a package is not there, and nobody asks for it.
    shimMissingExports: files.length > 0,
    tsconfig: here('tsconfig.json'),
    transform: { jsx: 'react-jsx', define: { 'process.env.NODE_ENV': '"production"' } },
    onwarn(warning, warn) {
      // Packages say where they may run on a server; there is none.
      const isMeant = ['MODULE_LEVEL_DIRECTIVE', 'SHIMMED_EXPORT'].includes(warning.code ?? '');
      if (!isMeant) warn(warning);
    },
  });
  try {
    const { output } = await built.generate({ format: 'es', minify: true, codeSplitting: false });
    const [{ code, modules }, ...others] = output;
    if (others.length > 0) throw new Error('the application is more than one script');
    return { code, modules: Object.keys(modules) };
  } finally {
    await built.close();
  }
};

type BuiltName = 'app.js' | 'app.css' | 'licences.txt' | 'index.html';

/** Its files as texts. */
export type Application = Partial<Record<BuiltName, string>>;

/** Throws when the sources do not build. */
export const buildApplication = async (name: ApplicationName): Promise<Application> => {
  const recipe: Recipe = applications[name];
  const { styles, document } = recipe;
  const { code, modules } = await bundle(recipe);
  const texts = styles.map((part) => readFileSync(here(`style/${part}.css`), 'utf8'));
  return {
    ...(document === undefined ? {} : { 'index.html': readFileSync(here(document), 'utf8') }),
    'app.js': code,
    'app.css': withoutComments(texts.join('\n')).trimStart(),
    'licences.txt': licencesOf(modules),
  };
};

/** Where a built file is kept. */
export const builtFile = (name: ApplicationName, file: string): string =>
  here(`${applications[name].folder}${file}`);

if (import.meta.main) {
  for (const name of applicationNames) {
    mkdirSync(here(applications[name].folder), { recursive: true });
    for (const [file, text] of Object.entries(await buildApplication(name))) {
      writeFileSync(builtFile(name, file), text);
    }
  }
}
