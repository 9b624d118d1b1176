/**
 * Serves a world in this process, without a database or containers. It compiles a tree, loads the tree's rows and those
 * of its first task, and serves its routes by a world host's own API server. Code of the world runs in real workers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TreeFile } from '#domain/world.ts';
import { machineClock, type SessionClock } from '#domain/world-clock.ts';
import { selectUserCode } from '#language/artifacts/bundle.ts';
import { compileTree } from '#language/compile/compile.ts';
import type { Contract, Row } from '#language/contract.ts';
import { createToolChecker } from '#language/schema/checkers.ts';
import type { Task } from '#language/task.ts';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import { openWorldStore } from '#store/world-store.ts';
import type { CallAnswer, HostCall } from '#wire/host-api/operations.ts';
import { specOfBundled } from '#wire/public-api/worlds/bundled-task.ts';
import { startApiServer } from '../../../world-host-image/api/server.ts';
import { runCall } from '../../../world-host-image/call-kinds/run-call.ts';
import { openLedger } from '../../../world-host-image/ledger/ledger.ts';
import { createRouter } from '../../../world-host-image/routes/router.ts';
import { openAuthorCode } from '../../../world-host-image/session/author-code.ts';
import { createClock } from '../../../world-host-image/session/clock.ts';
import { createFaults } from '../../../world-host-image/session/faults.ts';
import { createIds } from '../../../world-host-image/session/ids.ts';
import { createTokens } from '../../../world-host-image/session/oauth-tokens.ts';
import { secretsOf } from '../../../world-host-image/session/open-session.ts';
import { createOutbox } from '../../../world-host-image/session/outbox.ts';
import { applyTaskSeed } from '../../../world-host-image/session/seed.ts';
import { createSent } from '../../../world-host-image/session/sent.ts';
import { createServing } from '../../../world-host-image/session/serving.ts';
import type { Session } from '../../../world-host-image/session/session.ts';
import { startUserCode, type UserCode } from '../../../world-host-image/usercode/runner.ts';

export type ServedWorld = {
  /** Address and token of its API. */
  url: string;
  token: string;
  contract: Contract;
  session: Session;
  /** Runs a call as a client of an agent would. */
  call(kind: HostCall['kind'], name?: string, input?: Row): Promise<CallAnswer>;
  /** Changes the session's address, as a message of the control plane does. */
  moveTo(address: string): void;
  /** Returns the rows of an entity that have these values. */
  rows(entity: string, where: Row): Row[];
  /** Restores the rows of the task's initial state. */
  reset(): Promise<void>;
  /** Begins the bundled task of this name, as another session of the version would. */
  begin(task: string): Promise<void>;
  stop(): Promise<void>;
};

/** Replaces workers for a world without code. */
const noUserCode: UserCode = {
  bounds: { python: 'python3', mode: 'auto' },
  load: async () => [],
  run: async () => ({ ok: false, error: { code: 'not_found', message: 'the world has no code' } }),
  startGrader() {
    throw new Error('no Python was started for a grader');
  },
  startTester() {
    throw new Error('no process was started for tests');
  },
  restart: async () => undefined,
  processes: () => ({ live: [], started: [] }),
  stop: async () => undefined,
};

const zeroDigest = `sha256:${'0'.repeat(64)}` as const;

/** Compiles a tree. Throws with every problem when that fails. */
const compile = (tree: readonly TreeFile[]) => {
  const compiled = compileTree(tree);
  if (compiled.ok) return compiled;
  throw new Error(compiled.problems.map((problem) => JSON.stringify(problem)).join('\n'));
};

/** Returns the bundled task of a name, which must exist; without a name the first one, if there is any. */
const findTask = ({ tasks }: Contract, name: string | undefined): Task | undefined => {
  const found = name === undefined ? tasks[0] : tasks.find((task) => task.name === name);
  if (name !== undefined && found === undefined) throw new Error(`there is no task ${name}`);
  return found;
};

const loadStore = async (
  contract: Contract,
  baseRows: Record<string, Row[]>,
  task: Task | undefined,
) => {
  const { bytes } = buildSnapshot(contract, baseRows);
  const store = openWorldStore({ contract, snapshot: bytes });
  store.mark('base');
  if (task !== undefined) await store.atomically(() => applyTaskSeed({ store }, task.seed));
  store.mark('task');
  return store;
};

/** Clock, seed and bundled task of the session, when they matter. */
export type ServeOptions = { clock?: SessionClock; seed?: number | null; task?: string };

/** Serves a tree on a port of its own. */
export const serveWorld = async (
  tree: readonly TreeFile[],
  { clock = machineClock, seed = null, task: name }: ServeOptions = {},
): Promise<ServedWorld> => {
  const { contract, baseRows } = compile(tree);
  const task = findTask(contract, name);
  const workDir = mkdtempSync(join(tmpdir(), 'svc-served-world-'));
  const log = createLog('test', 'silent');
  const token = 'st-test';
  const source = { secret: new Secret(token), clock: createClock(clock), ids: createIds(seed) };
  const store = await loadStore(contract, baseRows, task);
  const files = selectUserCode(contract, tree);
  const userCode =
    files.length === 0 && task?.grader?.kind !== 'python'
      ? noUserCode
      : await startUserCode({ python: 'python3', workDir, log });
  const code = openAuthorCode({ userCode, workDir, files });
  const serving = createServing();
  const server = await startApiServer({ listen: { host: '127.0.0.1', port: 0 }, serving, log });
  const session: Session = {
    id: 'ses-test',
    alias: null,
    sent: createSent(),
    address: server.address,
    formerAddresses: [],
    token: source.secret,
    task: task === undefined ? null : specOfBundled(task),
    ledger: openLedger({ secrets: secretsOf([contract], source.secret) }),
    clock: source.clock,
    ids: source.ids,
    outbox: createOutbox(),
    tokens: createTokens(source),
    links: new Map(),
    faults: createFaults({ api: contract.api, seed, clock: source.clock }),
    answer: null,
    world: {
      bundle: zeroDigest,
      snapshot: zeroDigest,
      contract,
      store,
      closeStore: async () => store.close(),
      baseDigest: store.digest(),
      router: createRouter(contract.api?.routes ?? []),
      tools: createToolChecker(contract),
      code,
    },
  };
  serving.begin(session);
  let calls = 0;
  const call: ServedWorld['call'] = (kind, name, input) => {
    calls += 1;
    const numbered = { id: `call-${calls}`, seq: calls, kind, name: name ?? null, input };
    return runCall(session, numbered, log);
  };
  return {
    url: server.address,
    token,
    contract,
    session,
    call,
    moveTo: serving.moveTo,
    rows(entity, where) {
      const filters = Object.entries(where).map(([path, value]) => ({
        path: path.split('.'),
        match: 'equals' as const,
        value,
      }));
      return store.query(entity, { where: filters }).map((payload) => JSON.parse(payload) as Row);
    },
    async reset() {
      await call('reset');
    },
    async begin(name) {
      const next = findTask(contract, name) as Task;
      // The call `reset` waits for requests in progress.
      await call('reset');
      store.rollBackTo('base');
      await store.atomically(() => applyTaskSeed({ store }, next.seed));
      store.mark('task');
      session.task = specOfBundled(next);
      await call('reset');
    },
    async stop() {
      await server.close();
      await code.remove();
      await userCode.stop();
      session.ledger.close();
      store.close();
      rmSync(workDir, { recursive: true, force: true });
    },
  };
};
