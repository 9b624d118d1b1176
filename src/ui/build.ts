/**
 * Builds the application of generated pages: one script and one style, with the
 * licences of what they are built from, which compiling writes into worlds. What is
 * built is kept in the tree, beside the compiler that writes it (`make ui`), and `built.test.ts` holds it to the
 * sources; equal sources and packages give equal bytes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { rolldown } from 'rolldown';

const here = (path: string): string => new URL(path, import.meta.url).pathname;

/** In the order in which later ones win. */
const styles = ['tokens', 'base', 'shell', 'pieces', 'list', 'row', 'form'];

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
export const buildApplication = async (): Promise<Application> => {
  const bundle = await rolldown({
    input: here('main.tsx'),
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
    const texts = styles.map((name) => readFileSync(here(`style/${name}.css`), 'utf8'));
    const style = withoutComments(texts.join('\n')).trimStart();
    return { script: code, style, licences: licencesOf(Object.keys(modules)) };
  } finally {
    await bundle.close();
  }
};

/** Where the built files are kept. */
export const builtFile = (name: 'app.js' | 'app.css' | 'licences.txt'): string =>
  here(`../language/artifacts/page/built/${name}`);

if (import.meta.main) {
  const { script, style, licences } = await buildApplication();
  writeFileSync(builtFile('app.js'), script);
  writeFileSync(builtFile('app.css'), style);
  writeFileSync(builtFile('licences.txt'), licences);
}
