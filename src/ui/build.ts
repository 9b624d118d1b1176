/**
 * Builds the applications that the service ships: generated pages, which compiling writes into worlds; the pages of
 * templates; the live view, which a browser serves; and the base of dashboards. Each application is one script and one
 * style, with the licences of its packages. The built files are committed in a folder of the program that serves them
 * (`make ui`), and `built.test.ts` checks them against the sources. Equal sources and packages give equal bytes.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rolldown } from 'rolldown';

const here = (path: string): string => new URL(path, import.meta.url).pathname;

type Recipe = {
  entry: string;
  /** Paths of style sheets in cascade order: later ones override earlier ones. */
  styles: readonly string[];
  /** Path of the HTML document. Absent if a program of the service writes the document. */
  document?: string;
  /** Modules that replace packages of which only the exported names are needed, by package. */
  instead?: Readonly<Record<string, string>>;
  /** Folder of the built files. */
  folder: string;
};

/** Styles shared by all pages that show rows. */
const shared = ['tokens', 'base', 'shell', 'pieces', 'list', 'row', 'form'];

export const applications = {
  /** Generated pages. */
  page: {
    entry: 'main.tsx',
    styles: shared,
    folder: '../language/artifacts/page/built/',
  },
  /** Page of the template `code-hosting`. */
  'code-hosting': {
    entry: 'code-hosting/main.tsx',
    styles: [...shared, 'frame', 'items', 'issue', 'text'],
    document: 'code-hosting/index.html',
    folder: '../templates/code-hosting/ui/',
  },
  /** Page of the template `issue-tracking`. */
  'issue-tracking': {
    entry: 'issue-tracking/main.tsx',
    styles: [...shared, 'frame', 'items', 'issue', 'text', 'issue-tracking/tracker'],
    document: 'issue-tracking/index.html',
    folder: '../templates/issue-tracking/ui/',
  },
  /** Page of the template `device-management`. */
  'device-management': {
    entry: 'device-management/main.tsx',
    styles: [...shared, 'frame', 'items', 'device-management/device'],
    document: 'device-management/index.html',
    folder: '../templates/device-management/ui/',
  },
  /** Live view of a session's browser. */
  view: {
    entry: 'view/main.tsx',
    styles: ['tokens', 'base', 'pieces', 'view'],
    folder: '../../browser-image/view/built/',
  },
  /** Base of the pages of dashboards. */
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

/** Returns the folder of a module's package; undefined for a module of this repository. */
const packageOf = (module: string): string | undefined =>
  /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1];

/** Returns the text of a package's licence, whose file name differs between packages. */
const licenceIn = (folder: string): string => {
  const name = readdirSync(folder).find((file) => /^licen[cs]e(\.md|\.txt)?$/i.test(file));
  if (name === undefined) throw new Error(`${folder} has no licence to be passed on`);
  return readFileSync(`${folder}/${name}`, 'utf8').replaceAll('\r\n', '\n').trim();
};

/**
 * Returns the licence texts of all packages in the script. Each text occurs once, with the names of the packages that
 * it covers.
 */
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
    // Exports that the replaced packages lack are undefined; no code uses them.
    shimMissingExports: files.length > 0,
    tsconfig: here('tsconfig.json'),
    transform: { jsx: 'react-jsx', define: { 'process.env.NODE_ENV': '"production"' } },
    onwarn(warning, warn) {
      // Packages contain directives for server rendering, which does not exist here.
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

/** Contents of the built files, by file name. */
export type Application = Partial<Record<BuiltName, string>>;

/** Builds an application. Throws if the sources do not build. */
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

/** Returns the path of a built file. */
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
