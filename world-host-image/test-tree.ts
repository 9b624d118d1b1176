/**
 * Runs the tests of a world tree on this machine, without a service. The program reads a tree from its standard input
 * (`{path: base64}` as JSON) and prints the report, or an error, as one line of JSON. The tests run on the world as a
 * host would serve it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TreeFile } from '#domain/world.ts';
import { machineClock } from '#domain/world-clock.ts';
import { selectUserCode } from '#language/artifacts/bundle.ts';
import { compileTree } from '#language/compile/compile.ts';
import { createToolChecker } from '#language/schema/checkers.ts';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import { openWorldStore } from '#store/world-store.ts';
import { runCall } from './call-kinds/run-call.ts';
import { callErrorOf } from './calls/answers/failure.ts';
import { openLedger } from './ledger/ledger.ts';
import { createRouter } from './routes/router.ts';
import { openAuthorCode } from './session/author-code.ts';
import { createClock } from './session/clock.ts';
import { noFaults } from './session/faults.ts';
import { createIds } from './session/ids.ts';
import { createTokens } from './session/oauth-tokens.ts';
import { secretsOf } from './session/open-session.ts';
import { createOutbox } from './session/outbox.ts';
import { createSent } from './session/sent.ts';
import type { Session } from './session/session.ts';
import type { SuiteReport } from './testing/report.ts';
import { defaultTestLimits, runSuite } from './testing/suite.ts';
import { startUserCode } from './usercode/runner.ts';

const noDigest = `sha256:${'0'.repeat(64)}` as const;
const log = createLog('svc-test', 'silent');

const readFiles = async (): Promise<TreeFile[]> => {
  const files = JSON.parse(await text(process.stdin)) as Record<string, string>;
  return Object.entries(files).map(([path, content]) => ({
    path,
    content: new Uint8Array(Buffer.from(content, 'base64')),
  }));
};

const testTree = async (tree: readonly TreeFile[], workDir: string): Promise<SuiteReport> => {
  const compiled = compileTree(tree);
  if (!compiled.ok) throw new Error('the tree does not compile');
  const { contract, baseRows } = compiled;
  const { bytes } = buildSnapshot(contract, baseRows);
  const store = openWorldStore({ contract, snapshot: bytes });
  store.mark('base');
  store.mark('task');
  const userCode = await startUserCode({ python: 'python3', workDir, log });
  const code = openAuthorCode({ userCode, workDir, files: selectUserCode(contract, tree) });
  const source = {
    secret: new Secret('st-test'),
    clock: createClock(machineClock),
    ids: createIds(null),
  };
  const session: Session = {
    id: 'ses-test',
    alias: null,
    sent: createSent(),
    address: null,
    formerAddresses: [],
    token: source.secret,
    task: null,
    ledger: openLedger({ secrets: secretsOf([contract], source.secret) }),
    clock: source.clock,
    ids: source.ids,
    outbox: createOutbox(),
    tokens: createTokens(source),
    links: new Map(),
    faults: noFaults(),
    answer: null,
    world: {
      bundle: noDigest,
      snapshot: noDigest,
      contract,
      store,
      closeStore: async () => store.close(),
      baseDigest: store.digest(),
      router: createRouter(contract.api?.routes ?? []),
      tools: createToolChecker(contract),
      code,
    },
  };
  try {
    const tests = tree.filter(({ path }) => path.startsWith('tests/'));
    return await runSuite(session, tests, defaultTestLimits, (of, call) => runCall(of, call, log));
  } finally {
    await code.remove();
    await userCode.stop();
    session.ledger.close();
    store.close();
  }
};

const workDir = await mkdtemp(join(tmpdir(), 'svc-test-'));
try {
  const report = await testTree(await readFiles(), workDir);
  process.stdout.write(`${JSON.stringify({ report })}\n`);
} catch (error) {
  const { code = 'internal', message = String(error) } = callErrorOf(error) ?? {};
  process.stdout.write(`${JSON.stringify({ error: { code, message } })}\n`);
} finally {
  await rm(workDir, { recursive: true, force: true, maxRetries: 5 });
}
