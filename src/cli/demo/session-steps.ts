/**
 * Steps of the demo about a world and its session. The world is compiled from its folder and created (3), a session is
 * opened on its task (5), and the session's host is reused for the next one (9).
 */
import { fileURLToPath } from 'node:url';
import { compileTree } from '#language/compile/compile.ts';
import type { Contract } from '#language/contract.ts';
import type { Client } from '#wire/client.ts';
import {
  closeSession,
  createWorld as createWorldOperation,
  openSession as openOperation,
} from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import type { WorldDetail } from '#wire/public-api/worlds/world.ts';
import { encodeTree, readTree } from '../files/input.ts';
import { sendCall, waitUntilReady } from '../service/waits.ts';
import type { Context } from '../terminal/context.ts';
import { elapsedMs, formatCount, formatDuration, formatFields } from '../terminal/print.ts';
import type { Up } from '../up/up.ts';
import { outputOf } from '../views/call.ts';
import { ProblemsError } from '../views/report.ts';
import { taskName, worldSlug } from './demo-data.ts';
import { expectEqual, expectSome, type Step } from './timeline.ts';

// Step 3: the world is compiled from its folder and created. The service must compile it to the same result.

const templateDir = fileURLToPath(new URL(`../../templates/${worldSlug}`, import.meta.url));

const toolText = (contract: Contract): string => {
  const count = (...kinds: string[]): number =>
    contract.tools.filter(({ binding }) => kinds.includes(binding.kind)).length;
  return [
    `${count('python')} in Python`,
    `${count('typescript')} in TypeScript`,
    `${count('operation')} by route`,
    `${count('convention')} by convention`,
  ].join(', ');
};

const describe = (contract: Contract, world: WorldDetail): string =>
  formatFields([
    ['world', `${world.slug}, ${contract.name}, version ${world.version.number}`],
    [
      'rows',
      Object.entries(world.version.entityCounts)
        .map(([entity, count]) => `${count} ${entity}`)
        .join(', '),
    ],
    ['tools', `${formatCount(contract.tools.length, 'tool')}: ${toolText(contract)}`],
    ['routes', `${formatCount(contract.api?.routes.length ?? 0, 'route')} of the vendor's API`],
    ['tasks', contract.tasks.map(({ name }) => name).join(', ')],
    ['content', world.version.contentHash],
  ]);

export const createWorld = async (
  step: Step,
  client: Client,
  context: Context,
): Promise<WorldDetail> => {
  const tree = readTree(context, templateDir);
  const compiled = compileTree(tree);
  if (!compiled.ok) throw new ProblemsError(templateDir, compiled.problems, tree);
  const { contract, baseRows } = compiled;
  const { body: world } = await client.send(createWorldOperation, {
    body: { slug: worldSlug, from: encodeTree(tree), message: 'from its template' },
  });
  const named = (names: readonly string[]): string[] => [...names].sort();
  expectEqual('the slug', world.slug, worldSlug);
  expectEqual('the number of its version', world.version.number, 1);
  expectEqual('its tools', named(world.tools), named(contract.tools.map(({ name }) => name)));
  expectEqual('its tasks', named(world.tasks), named(contract.tasks.map(({ name }) => name)));
  for (const { name } of contract.entities) {
    const expected = baseRows[name]?.length ?? 0;
    expectEqual(`rows of ${name}`, world.version.entityCounts[name], expected);
  }
  step.note(describe(contract, world));
  return world;
};

const readyWithinMs = 60_000;

/** Session that has become ready, and its initial state. */
type OpenSession = {
  session: SessionView;
  /** Time from the request until the service reported the session ready, in milliseconds. */
  readyMs: number;
  state: { counts: Record<string, number>; digest: string };
};

type OpenOptions = { client: Client; reuseWarm: boolean; signal: AbortSignal };

/** Opens a session and waits until it is ready. `reuseWarm` allows a host that has already loaded the world. */
export const open = async (step: Step, options: OpenOptions): Promise<OpenSession> => {
  const { client, reuseWarm, signal } = options;
  const opened = await client.send(openOperation, {
    body: { slug: worldSlug, task: taskName, reuseWarm },
    signal,
  });
  expectEqual('the state right after opening', opened.body.state, 'PROVISIONING');
  const endsAt = performance.now() + readyWithinMs;
  const session = await waitUntilReady({ client, session: opened.body, endsAt, signal });
  expectEqual('the state after waiting', session.state, 'READY');
  const readyMs = expectSome('readyAt', elapsedMs(session.createdAt, session.readyAt));
  step.note(`PROVISIONING → READY in ${formatDuration(readyMs)}`);
  const sessionId = session.id;
  const call = await sendCall({ client, sessionId, call: { kind: 'state' }, signal });
  return { session, readyMs, state: outputOf(call) as OpenSession['state'] };
};

export const openSession = async (step: Step, options: OpenOptions): Promise<OpenSession> => {
  const opened = await open(step, options);
  const { session, state } = opened;
  expectEqual('the name of its task', session.task?.name, taskName);
  const instruction = expectSome('the instruction', session.instruction);
  step.note(
    formatFields([
      ['session', session.id],
      ['API', expectSome('the address of its API', session.surfaces.api?.url)],
      ['state', state.digest],
    ]),
  );
  step.aside(`\n${instruction.trim()}`);
  return opened;
};

// Step 9: the session closes and keeps its host warm. The next session opens on the same host and finds the seed
// again, not the changes of the first session.

type ReuseOptions = { client: Client; up: Up; first: OpenSession; signal: AbortSignal };

const closeWaitSeconds = 30;

const close = async (
  { client, signal }: ReuseOptions,
  sessionId: string,
  keepWarm: boolean,
): Promise<void> => {
  const { body } = await client.send(closeSession, {
    params: { sessionId },
    query: { wait: closeWaitSeconds },
    body: { keepWarm },
    signal,
  });
  expectEqual('the state after closing', [body.state, body.endReason], ['CLOSED', 'requested']);
};

/** Closes the first session. Resolves once its host has been proved clean and is warm again. */
const closeAndRecycle = async (options: ReuseOptions): Promise<string> => {
  const { up, first, signal } = options;
  let hostId: string | undefined;
  await up.watchHosts((hosts) => {
    hostId = hosts.find(({ sessionId }) => sessionId === first.session.id)?.id;
    return true;
  }, signal);
  expectEqual('whether a host has the session', hostId !== undefined, true);
  await close(options, first.session.id, true);
  let isWarm = false;
  await up.watchHosts((hosts) => {
    const host = hosts.find(({ id }) => id === hostId);
    isWarm = host?.state === 'warm';
    return isWarm || host === undefined || host.state === 'draining';
  }, signal);
  expectEqual('whether the host was proved clean', isWarm, true);
  return hostId ?? '';
};

export const reuseHost = async (step: Step, options: ReuseOptions): Promise<void> => {
  const { client, first, signal } = options;
  const hostId = await closeAndRecycle(options);
  step.note(`${first.session.id} closed; its host ${hostId} was proved clean and is warm again`);
  const again = await open(step, { client, reuseWarm: true, signal });
  expectEqual('whether the host was reused', again.session.hostReused, true);
  expectEqual('the rows of the new session', again.state.counts, first.state.counts);
  expectEqual('the digest of the new session', again.state.digest, first.state.digest);
  step.note(
    formatFields([
      ['session', again.session.id],
      ['state', `${again.state.digest}, the same as the seed`],
      ['speed', compare(first.readyMs, again.readyMs)],
    ]),
  );
  await close(options, again.session.id, false);
  step.note(`${again.session.id} closed`);
};

const compare = (firstMs: number, againMs: number): string => {
  const both = `${formatDuration(firstMs)} on a host that had to load the world, ${formatDuration(againMs)} on one that had loaded it`;
  const times = firstMs / Math.max(againMs, 1);
  return times < 1.1 ? both : `${both}: ${times.toFixed(1)} times faster`;
};
