/**
 * Plays a new user's first day, and prints how long each step takes. The steps: the README's commands on a clean copy
 * of the checkout, the HTTP starter, a world of the user's own with three entities and a task, its proof, and a push.
 * Then a harness of 30 lines runs 20 sessions at once for each of two builds of an agent, and the builds are compared.
 *
 * `make first-day` runs it; with `HERE=1`, it uses this checkout and its packages. Everything is removed afterwards.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '../..');
const own = join(import.meta.dirname, 'library');

const { values } = parseArgs({
  options: {
    here: { type: 'boolean', default: false },
    port: { type: 'string', default: '0' },
  },
});

const work = mkdtempSync(join(tmpdir(), 'svc-first-day-'));
const checkout = values.here ? root : join(work, 'svc');
const library = join(work, 'library');
const data = join(work, 'data');

/** Runs a command to its end. Throws with all that it printed when it fails. */
const run = async (command: string, words: string[], env: Record<string, string> = {}) => {
  const child = spawn(command, words, {
    cwd: work,
    env: { ...process.env, SVC_DATA: data, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
  }
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`${command} ${words.join(' ')}: status ${status}\n${printed}`);
  return printed;
};

const svc = (...words: string[]) => run(join(checkout, 'svc'), words);

let service: ChildProcess | undefined;

/** Starts the service and resolves when it says that it is up. */
const startService = async (): Promise<void> => {
  const words = ['up', '--data', data, '--port', values.port, '--runtime', 'process'];
  const child = spawn(join(checkout, 'svc'), words, {
    cwd: work,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  service = child;
  let printed = '';
  const up = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.includes('\nup after ')) up.resolve();
    });
  }
  child.once('close', (status) => up.reject(new Error(`svc up: status ${status}\n${printed}`)));
  await up.promise;
};

const stopService = async (): Promise<void> => {
  if (service === undefined || service.exitCode !== null) return;
  const ended = once(service, 'close');
  service.kill('SIGINT');
  await ended;
};

/** Writes what a user would in an editor: references between the entities, their routes, rows, code, a task, tests. */
const writeOwnFiles = (): void => {
  const file = join(library, 'schema/world.json');
  const world = JSON.parse(readFileSync(file, 'utf8'));
  world['x-svc'].entities.loans.relationships = ['member', 'book'].map((name) => ({
    fields: [`${name}_id`],
    target: `${name}s`,
    on_delete: 'restrict',
  }));
  writeFileSync(file, JSON.stringify(world, null, 2));
  const connector = join(library, 'connector.toml');
  const routes = readFileSync(join(own, 'routes.toml'), 'utf8');
  writeFileSync(connector, readFileSync(connector, 'utf8') + routes);
  rmSync(join(library, 'tests/invoices.test.ts'));
  copyFileSync(join(own, 'loans-test.ts'), join(library, 'tests/loans.test.ts'));
  for (const folder of ['api', 'data', 'scenarios']) {
    cpSync(join(own, folder), join(library, folder), { recursive: true });
  }
};

const addOwnEntities = async (): Promise<void> => {
  const add = (name: string, ...fields: string[]) =>
    svc(
      'worlds',
      'schema',
      'entity',
      'add',
      library,
      name,
      ...fields.flatMap((f) => ['--field', f]),
    );
  await add('members', 'id:integer', 'name:string', 'email:email');
  await add('books', 'id:integer', 'title:string', 'copies:integer');
  const loan = ['id:integer', 'member_id:integer', 'book_id:integer', 'due_on:date'];
  await add('loans', ...loan, 'returned_on?:date');
  for (const name of ['invoices', 'customers', 'webhook_endpoints']) {
    await svc('worlds', 'schema', 'entity', 'remove', library, name, '--uses');
  }
};

const playBuild = async (build: string, solves: number): Promise<void> => {
  await svc('release', 'builds', 'register', 'librarian', '--hash', build);
  const { url, publicKey, secretKey } = JSON.parse(
    readFileSync(join(data, 'credentials.json'), 'utf8'),
  );
  const env = { SVC_URL: url, SVC_PUBLIC_KEY: publicKey, SVC_SECRET_KEY: secretKey };
  const harness = join(import.meta.dirname, 'harness.mjs');
  await run(process.execPath, [harness, build, String(solves)], env);
};

type Step = readonly [name: string, act: () => Promise<unknown>];

const cleanCopy: readonly Step[] = [
  ['git clone', () => run('git', ['clone', '--quiet', '--depth', '1', `file://${root}`, checkout])],
  ['npm ci', () => run('npm', ['ci', '--prefix', checkout])],
];

const steps: readonly Step[] = [
  ...(values.here ? [] : cleanCopy),
  ['svc up, until a host is warm', startService],
  ['schema init --api', () => svc('worlds', 'schema', 'init', library, '--api')],
  ['schema check', () => svc('worlds', 'schema', 'check', library)],
  ['test', () => svc('worlds', 'test', library)],
  ['three entities of one’s own', addOwnEntities],
  ['their routes, rows, task and tests', async () => writeOwnFiles()],
  [
    'check and test again',
    async () => {
      await svc('worlds', 'schema', 'check', library);
      await svc('worlds', 'test', library);
    },
  ],
  ['worlds create', () => svc('worlds', 'create', 'library', '--from', library)],
  ['task prove', () => svc('worlds', 'task', 'prove', 'library', '-t', 'return-a-book')],
  [
    'one route more, and push',
    async () => {
      const connector = join(library, 'connector.toml');
      const later = readFileSync(join(own, 'later-routes.toml'), 'utf8');
      writeFileSync(connector, readFileSync(connector, 'utf8') + later);
      await svc('worlds', 'push', 'library', library);
      await svc('worlds', 'diff', 'library@1', 'library@2');
    },
  ],
  ['20 sessions at once, first build', () => playBuild('careful', 18)],
  ['20 sessions at once, second build', () => playBuild('hasty', 9)],
  [
    'compare the builds',
    async () => {
      const compared = await svc('release', 'compare', 'careful', 'hasty');
      if (!compared.includes('return-a-book')) throw new Error(`no task is compared:\n${compared}`);
      process.stdout.write(`\n${compared}\n`);
    },
  ],
];

/** Runs the steps, one line each; returns false when a step fails, which ends the run. */
const play = async (): Promise<boolean> => {
  for (const [name, act] of steps) {
    const startedAt = performance.now();
    const failure = await act().then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    process.stdout.write(`${seconds.padStart(7)} s  ${failure === undefined ? '' : '✗ '}${name}\n`);
    if (failure === undefined) continue;
    process.stderr.write(`${failure}\n`);
    return false;
  }
  return true;
};

try {
  if (!(await play())) process.exitCode = 1;
} finally {
  await stopService();
  rmSync(work, { recursive: true, force: true });
}
