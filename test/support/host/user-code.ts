/**
 * Support for tests of user code: real workers over a store that is a Map, and shortcuts for running functions of
 * files that a test writes.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Row } from '#language/contract.ts';
import { createLog, type Log } from '#runtime/log.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type {
  RunRequest,
  RunResult,
  StoreAccess,
  UserCodeLimits,
  UserLanguage,
} from '../../../world-host-image/usercode/run.ts';
import { startUserCode, type UserCode } from '../../../world-host-image/usercode/runner.ts';

const keyText = (key: Row): string => JSON.stringify(key.id);

const valueAt = (row: Row, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, step) => (value as Row | null)?.[step], row);

/** Creates a store of one entity, `things`, with the primary key `id`; a row without a name is refused. */
export const createMemoryStore = () => {
  const things = new Map<string, Row>();
  const sent: Parameters<StoreAccess['deliver']>[0][] = [];
  const known = (entity: string): void => {
    if (entity === 'things') return;
    throw new StoreRefusal({ entity, kind: 'unknown_entity', detail: 'no such entity' });
  };
  const found = (entity: string, key: Row): Row => {
    known(entity);
    const row = things.get(keyText(key));
    if (row !== undefined) return row;
    throw new StoreRefusal({ entity, kind: 'not_found', detail: 'no such row' });
  };
  const access: StoreAccess = {
    get(entity, key) {
      known(entity);
      const row = things.get(keyText(key));
      return row === undefined ? null : JSON.stringify(row);
    },
    query(entity, { where = [], limit, offset = 0, orderBy = [] }) {
      known(entity);
      const rows = [...things.values()].filter((row) =>
        where.every(({ path, value }) => [value].flat().includes(valueAt(row, path))),
      );
      const [order] = orderBy;
      if (order !== undefined) {
        const sign = order.descending === true ? -1 : 1;
        const rank = (row: Row): number => Number(valueAt(row, order.path));
        rows.sort((a, b) => sign * (rank(a) - rank(b)));
      }
      const end = limit === undefined ? undefined : offset + limit;
      return rows.slice(offset, end).map((row) => JSON.stringify(row));
    },
    count: (entity, where) => access.query(entity, { where }).length,
    insert(entity, row) {
      known(entity);
      const refuse = (kind: 'duplicate' | 'shape', field: string, detail: string): never => {
        throw new StoreRefusal({ entity, kind, field, pointer: `/${field}`, detail });
      };
      if (things.has(keyText(row))) refuse('duplicate', 'id', 'the key is taken');
      if (typeof row.name !== 'string') refuse('shape', 'name', 'must be a string');
      things.set(keyText(row), row);
      return JSON.stringify(row);
    },
    update(entity, key, patch) {
      const row = { ...found(entity, key), ...patch };
      things.set(keyText(key), row);
      return JSON.stringify(row);
    },
    remove(entity, key) {
      found(entity, key);
      things.delete(keyText(key));
    },
    nextInteger(_entity, _field, within = {}) {
      const counted = [...things.values()].filter((row) =>
        Object.entries(within).every(([field, value]) => row[field] === value),
      );
      return 1 + Math.max(0, ...counted.map((row) => Number(row.id)));
    },
    now: () => '2026-01-02T03:04:05.000Z',
    uuid: () => '7b1f3a52-6f55-4c7e-9a41-0d6f2f0c5e11',
    mintToken: () => ({ token: 'minted', expires: '2026-03-01T00:00:00.000Z' }),
    revokeToken: () => {},
    deliver: (event) => void sent.push(event),
  };
  return { access, things, sent };
};

/** Creates a folder below the machine's temporary one, by its real path; `remove` removes it. */
export const makeFolder = () => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'svc-usercode-')));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
};

/** Writes files below a folder. */
export const writeFiles = (folder: string, files: Record<string, string>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
};

const defaultFile = { python: 'tools.py', typescript: 'tools.ts' } as const;

export type RunOptions = Partial<Omit<RunRequest, 'language' | 'function' | 'input'>> & {
  input?: unknown;
};

export type Bench = {
  code: UserCode;
  folder: string;
  /** Writes files into a new code directory and loads it; returns the directory. */
  load(files: Record<string, string>): Promise<string>;
  /** Writes files into a new code directory and loads it; returns why files could not be imported. */
  failures(files: Record<string, string>): Promise<readonly string[]>;
  /** Runs a function of the tools file, by default over an empty store. */
  run(language: UserLanguage, name: string, options?: RunOptions): Promise<RunResult>;
  /** Runs a function that is expected to succeed; returns its value. */
  value(language: UserLanguage, name: string, options?: RunOptions): Promise<unknown>;
  close(): Promise<void>;
};

/** Starts workers in a folder of their own. */
export const startBench = async (
  limits: Partial<UserCodeLimits> = {},
  log: Log = createLog('test', 'silent'),
): Promise<Bench> => {
  const folder = makeFolder();
  const code = await startUserCode({ python: 'python3', workDir: folder.path, log, limits });
  let loads = 0;

  const run: Bench['run'] = (language, name, options = {}) =>
    code.run({
      language,
      function: name,
      file: defaultFile[language],
      as: 'tool',
      input: {},
      access: createMemoryStore().access,
      timeoutMs: 5_000,
      ...options,
    } as RunRequest);

  const write = (files: Record<string, string>): string => {
    loads += 1;
    const directory = join(folder.path, `code-${loads}`);
    mkdirSync(directory);
    writeFiles(directory, files);
    return directory;
  };

  return {
    code,
    folder: folder.path,
    run,
    async load(files) {
      const directory = write(files);
      await code.load(directory);
      return directory;
    },
    failures: (files) => code.load(write(files)),
    async value(language, name, options) {
      const result = await run(language, name, options);
      if (!result.ok) throw new Error(`${name}: ${JSON.stringify(result.error)}`);
      return result.value;
    },
    async close() {
      await code.stop();
      folder.remove();
    },
  };
};

/** Creates a log that keeps its entries, so that tests can read the output of user code. */
export const createHeardLog = () => {
  const entries: Row[] = [];
  const log = createLog('test', 'info');
  const keep = (facts: unknown, message?: string): void => {
    entries.push({ ...(facts as Row), message });
  };
  const heard = Object.assign(Object.create(log) as Log, { info: keep, warn: keep });
  heard.child = (() => heard) as unknown as Log['child'];
  const texts = (stream: string): string[] =>
    entries
      .filter((entry) => entry.stream === stream && 'text' in entry)
      .map((entry) => String(entry.text));
  return { log: heard, entries, texts };
};
