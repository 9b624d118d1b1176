/** The files of the live view page, bundled when they are first asked for. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export type PageFile = { type: string; text: string };

const folder = join(import.meta.dirname, '../view/page');

const bundleScript = async (): Promise<string> => {
  const { build } = await import('rolldown'); // it loads machine code, for which no start waits
  const { output } = await build({
    input: join(folder, 'main.ts'),
    platform: 'browser',
    write: false,
    logLevel: 'warn',
    output: { format: 'es', minify: true },
  });
  return output[0].code;
};

const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');

const makers: Readonly<Record<string, { type: string; make(): Promise<string> }>> = {
  '/view': { type: 'text/html; charset=utf-8', make: () => read('index.html') },
  '/view/page.css': { type: 'text/css; charset=utf-8', make: () => read('page.css') },
  '/view/page.js': { type: 'text/javascript; charset=utf-8', make: bundleScript },
};

const made = new Map<string, Promise<string>>();

/** The file at a path; undefined when there is none. */
export const pageFile = async (path: string): Promise<PageFile | undefined> => {
  const maker = Object.hasOwn(makers, path) ? makers[path] : undefined;
  if (maker === undefined) return undefined;
  const making = made.get(path) ?? maker.make();
  made.set(path, making);
  making.catch(() => made.delete(path));
  return { type: maker.type, text: await making };
};
