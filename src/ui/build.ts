/**
 * Builds the applications that we ship: that of generated pages, which compiling writes into worlds, and the live view,
 * which a browser serves. Each is one script and one style, with the licences of what they are built from. What is
 * built is kept in the tree, beside the program that serves it (`make ui`), and `built.test.ts` holds it to the
 * sources; equal sources and packages give equal bytes.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rolldown } from 'rolldown';

const here = (path: string): string => new URL(path, import.meta.url).pathname;

type Recipe = {
  entry: string;
  /** In the order in which later ones win. */
  styles: readonly string[];
  /** Where the built files are kept. */
  folder: string;
};

export const applications = {
  /** Of generated pages. */
  page: {
    entry: 'main.tsx',
    styles: ['tokens', 'base', 'shell', 'pieces', 'list', 'row', 'form'],
    folder: '../language/artifacts/page/built/',
  },
  /** Of a session's browser. */
  view: {
    entry: 'view/main.tsx',
    styles: ['tokens', 'base', 'pieces', 'view'],
    folder: '../../browser-image/view/built/',
  },
} as const satisfies Readonly<Record<string, Recipe>>;
export type ApplicationName = keyof typeof applications;

const withoutComments = (css: string): string =>
  css.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\s*\n\s*/g, '\n');

/** The folder of the package that a module is of; undefined for a module of ours. */
const packageOf = (module: string): string | undefined =>
  /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1];

/** The packages that are in the script, and what their licences ask to be passed on with them. */
const licencesOf = (modules: readonly string[]): string => {
  const folders = [...new Set(modules.flatMap((module) => packageOf(module) ?? []))];
  const byText = new Map<string, string[]>();
  for (const folder of folders.toSorted()) {
    const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const text = readFileSync(`${folder}/LICENSE`, 'utf8').replaceAll('\r\n', '\n').trim();
    byText.set(text, [...(byText.get(text) ?? []), `* ${name} ${version}`]);
  }
  const parts = [...byText].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`);
  return `The application beside this file was built from these packages.\n\n${parts.join('\n\n')}`;
};

export type Application = { script: string; style: string; licences: string };

/** Script, style and licences as texts. Throws when the sources do not build. */
export const buildApplication = async (name: ApplicationName): Promise<Application> => {
  const { entry, styles }: Recipe = applications[name];
  const bundle = await rolldown({
    input: here(entry),
    platform: 'browser',
    tsconfig: here('tsconfig.json'),
    transform: { jsx: 'react-jsx', define: { 'process.env.NODE_ENV': '"production"' } },
    onwarn(warning, warn) {
      // Packages say where they may run on a server; there is none.
      if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
    },
  });
  try {
    const { output } = await bundle.generate({ format: 'es', minify: true, codeSplitting: false });
    const [{ code, modules }, ...others] = output;
    if (others.length > 0) throw new Error('the application is more than one script');
    const texts = styles.map((part) => readFileSync(here(`style/${part}.css`), 'utf8'));
    const style = withoutComments(texts.join('\n')).trimStart();
    return { script: code, style, licences: licencesOf(Object.keys(modules)) };
  } finally {
    await bundle.close();
  }
};

/** Where a built file is kept. */
export const builtFile = (
  name: ApplicationName,
  file: 'app.js' | 'app.css' | 'licences.txt',
): string => here(`${applications[name].folder}${file}`);

if (import.meta.main) {
  for (const name of Object.keys(applications) as ApplicationName[]) {
    const { script, style, licences } = await buildApplication(name);
    mkdirSync(here(applications[name].folder), { recursive: true });
    writeFileSync(builtFile(name, 'app.js'), script);
    writeFileSync(builtFile(name, 'app.css'), style);
    writeFileSync(builtFile(name, 'licences.txt'), licences);
  }
}
