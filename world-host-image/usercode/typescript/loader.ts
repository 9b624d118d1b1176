/**
 * Finds an author's functions: imports files of the code directory, and remembers which imports failed. It also
 * resolves the name `svc_env` to its module, and hides the modules of Node that give access to the outside. Hiding them
 * guards only against mistakes; the sandbox around the process stops malicious code.
 */
import { existsSync } from 'node:fs';
import { isBuiltin, registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, summarize } from './trace.ts';

/** Files that are imported as soon as a code directory is loaded, so that the first calls need not wait for them. */
const eagerFiles = ['tools.ts', 'api/handlers.ts'];

/** Built-in modules that code of a world may import. */
export const allowedBuiltins: ReadonlySet<string> = new Set(
  [
    'assert',
    'assert/strict',
    'async_hooks',
    'buffer',
    'crypto',
    'events',
    'fs',
    'fs/promises',
    'path',
    'path/posix',
  ]
    .concat([
      'perf_hooks',
      'process',
      'querystring',
      'stream',
      'stream/promises',
      'string_decoder',
      'test',
    ])
    .concat(['timers', 'timers/promises', 'url', 'util', 'zlib']),
);

export type UserFunction = (input: unknown) => unknown;

/** Error for a function that cannot be called. `details` are for the caller of the run. */
export class Unavailable extends Error {
  readonly code: string;
  readonly details: unknown;

  constructor(code: string, message: string, details: unknown) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export type Loader = {
  root(): string;
  /**
   * Opens a code directory. If `eager` is true, imports its eager files now. Resolves with the errors of files that
   * could not be imported.
   */
  open(directory: string, eager: boolean): Promise<string[]>;
  /**
   * Returns a function of a file. If `fresh` is true, imports the file again. Throws `Unavailable` if the function
   * cannot be called.
   */
  find(file: string, name: string, fresh: boolean): Promise<UserFunction>;
};

/** Registers the resolution of module names for an author's files. The worker's own imports are already loaded. */
const registerResolution = (): void => {
  const svcEnv = new URL('./svc-env.ts', import.meta.url).href;
  const svcTesting = new URL('./svc-testing.ts', import.meta.url).href;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'svc_env') return { url: svcEnv, shortCircuit: true };
      if (specifier === 'svc_env/testing') return { url: svcTesting, shortCircuit: true };
      const name = specifier.replace(/^node:/, '');
      if (isBuiltin(specifier) && !allowedBuiltins.has(name)) {
        throw new Error(`user code may not import "${specifier}"`);
      }
      return next(specifier, context);
    },
    load(url, context, next) {
      const isTypeScript = url.startsWith('file:') && /\.ts(?:\?|$)/.test(url);
      return next(url, isTypeScript ? { ...context, format: 'module-typescript' } : context);
    },
  });
};

const hideNetwork = (): void => {
  for (const name of ['fetch', 'WebSocket', 'EventSource'])
    Reflect.deleteProperty(globalThis, name);
  const builtin = process.getBuiltinModule;
  process.getBuiltinModule = ((name: string) =>
    allowedBuiltins.has(name.replace(/^node:/, ''))
      ? builtin(name)
      : undefined) as typeof process.getBuiltinModule;
};

export const createLoader = (): Loader => {
  const failures = new Map<string, Unavailable>();
  let root = '';
  let freshImports = 0;
  registerResolution();
  hideNetwork();

  const importFile = async (file: string, suffix: string): Promise<Record<string, unknown>> => {
    const path = join(root, file);
    if (!existsSync(path)) {
      throw new Unavailable('load_failed', `there is no file ${file}`, { trace: [] });
    }
    try {
      return await import(pathToFileURL(path).href + suffix);
    } catch (error) {
      const { message, ...facts } = describe(error, root);
      const why = summarize({ message, ...facts });
      throw new Unavailable('load_failed', `${file} cannot be imported: ${why}`, facts);
    }
  };

  const moduleOf = async (file: string, fresh: boolean): Promise<Record<string, unknown>> => {
    if (root === '') throw new Unavailable('load_failed', 'no code is loaded', { trace: [] });
    const failure = failures.get(file);
    if (failure !== undefined && !fresh) throw failure;
    freshImports += fresh ? 1 : 0;
    try {
      return await importFile(file, fresh ? `?fresh=${freshImports}` : '');
    } catch (error) {
      if (error instanceof Unavailable && !fresh) failures.set(file, error);
      throw error;
    }
  };

  return {
    root: () => root,
    async open(directory, eager) {
      root = directory;
      failures.clear();
      const found: string[] = [];
      if (!eager) return found;
      for (const file of eagerFiles.filter((name) => existsSync(join(root, name)))) {
        await moduleOf(file, false).catch((error: unknown) => {
          if (!(error instanceof Unavailable)) throw error;
          found.push(error.message);
        });
      }
      return found;
    },
    async find(file, name, fresh) {
      const module = await moduleOf(file, fresh);
      const found = module[name];
      if (typeof found === 'function') return found as UserFunction;
      const names = Object.keys(module).filter((key) => typeof module[key] === 'function');
      const message = `${file} exports no function ${name}; it has ${names.join(', ') || 'none'}`;
      throw new Unavailable('not_found', message, { functions: names });
    },
  };
};
