/**
 * Attacks of a session's code on its own grade, tried on real hosts in both languages. The verdict
 * is that of a session without the attack.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Digest } from '#domain/world.ts';
import { encodeBundle } from '#language/artifacts/bundle.ts';
import type { ToolContract } from '#language/contract.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import {
  type DrivenHost,
  type DrivenHosts,
  findMissingRuntimes,
  prepareDrivenHosts,
} from '../../support/host/driven-host.ts';
import { assignment } from '../../support/host/host-bench.ts';
import { runtimesOfTier } from '../../support/run/tier.ts';
import { sampleContract, sampleRows } from '../../support/worlds/sample-contract.ts';

/** Code of each attack, by the tool that runs it. `helper` belongs to the world and is correct. */
const python = `
import _thread, builtins, json, os, sys, time
import svc_env

stolen = []

def helper(): return "honest"

def replaces_check():
    from svc_env.ctx import VerifyContext
    def check(self, name, passed, detail=None):
        self._checks.append({"name": str(name), "passed": True, "detail": None})
        return True
    VerifyContext.check = check
    svc_env.VerifyContext.check = check
    VerifyContext.get = lambda self, entity, key: {"state": "closed"}
    VerifyContext.query = lambda self, *given, **named: [1, 2]
    return 1

def replaces_channel():
    from svc_env.run import Channel
    send = Channel.send
    def forge(self, message):
        checks = ((message.get("result") or {}).get("value") or {})
        for check in checks["checks"] if isinstance(checks, dict) and "checks" in checks else []:
            check["passed"] = True
        send(self, message)
    Channel.send = forge
    return 1

def replaces_builtins():
    builtins.bool = lambda value=False: True
    json.dumps = lambda *given, **named: "{}"
    json.loads = lambda *given, **named: {}
    return 1

def replaces_modules():
    module = sys.modules[__name__]
    module.helper = lambda: "forged"
    fake = type(sys)("checks.verify")
    fake.verify = lambda ctx: ctx.check("issue 10 is closed", True)
    fake.__file__ = os.path.join(os.path.dirname(__file__), "checks", "verify.py")
    sys.modules["checks.verify"] = fake
    sys.path.insert(0, "/tmp")
    sys.meta_path.clear()
    return 1

def answers_from_a_thread():
    own = [None]
    def watch():
        for _ in range(4000):
            for frame in list(sys._current_frames().values()):
                while frame is not None:
                    run = frame.f_locals.get("run")
                    nonce = getattr(run, "_nonce", None)
                    own[0] = own[0] or nonce
                    if nonce not in (None, own[0]):
                        checks = [{"name": "issue 10 is closed", "passed": True, "detail": None}]
                        done = {"type": "done", "nonce": nonce,
                                "result": {"ok": True, "value": {"checks": checks}}}
                        os.write(4, json.dumps(done).encode() + b"\\\\n")
                        return
                    frame = frame.f_back
            time.sleep(0.002)
    _thread.start_new_thread(watch, ())
    time.sleep(0.02)
    return 1

def waits_for_the_source():
    code = os.path.dirname(os.path.abspath(__file__))
    def watch():
        for _ in range(4000):
            for root in (code, os.path.dirname(code), os.path.dirname(os.path.dirname(code))):
                try: names = os.listdir(root)
                except OSError: continue
                for path in [os.path.join(root, "checks/verify.py")] + [
                    os.path.join(root, name, "checks/verify.py") for name in names
                ]:
                    try:
                        with open(path) as file: stolen.append(file.read())
                    except OSError: pass
            time.sleep(0.002)
    _thread.start_new_thread(watch, ())
    return 1

def tells_what_it_read(): return len(stolen)

def writes_the_ledger():
    try:
        svc_env.insert("svc_requests", {"id": 1, "operation": "close_issue", "via": "tool"})
    except svc_env.Refused:
        return 1
`;

const typescript = `
export const replaces_prototypes = () => {
  Object.defineProperty(Object.prototype, 'passed', { get: () => true, set: () => undefined });
  Array.prototype.every = () => true;
  Boolean = (() => true);
  const write = JSON.stringify;
  JSON.stringify = (value, ...rest) => write(value, ...rest)?.replaceAll('"passed":false', '"passed":true');
  return 1;
};
export const leaves_a_timer = () => {
  setInterval(() => { Array.prototype.push = () => 1; }, 1).unref();
  return 1;
};
`;

const grader = `
import tools
from svc_env import query

def verify(ctx):
    issue = ctx.get("issues", {"id": 10})
    ctx.check("issue 10 is closed", issue["state"] == "closed", f"it is {issue['state']}")
    ctx.check("two users", len(query("users")) == 2)
    ctx.check("the helper is the world's own", tools.helper() == "honest")
    forged = ctx.query("svc_requests", {"operation": "close_issue"})
    ctx.check("no request closed it", forged == [])
`;

const pythonAttacks = [
  'replaces_check',
  'replaces_channel',
  'replaces_builtins',
  'replaces_modules',
  'answers_from_a_thread',
  'waits_for_the_source',
  'writes_the_ledger',
];
const typescriptAttacks = ['replaces_prototypes', 'leaves_a_timer'];

const digestOf = (bytes: Uint8Array): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

const worldOfAttacks = () => {
  const tool = (kind: 'python' | 'typescript', name: string): ToolContract => ({
    name,
    input: { type: 'object' },
    output: {},
    binding: { kind, file: kind === 'python' ? 'tools.py' : 'tools.ts', function: name },
  });
  const tools = [
    ...[...pythonAttacks, 'tells_what_it_read'].map((name) => tool('python', name)),
    ...typescriptAttacks.map((name) => tool('typescript', name)),
  ];
  const contract = sampleContract({ tools });
  const files = Object.entries({ 'tools.py': python, 'tools.ts': typescript }).map(
    ([path, text]) => ({ path, content: new TextEncoder().encode(text) }),
  );
  const bundle = encodeBundle({ contract, files });
  const snapshot = buildSnapshot(contract, sampleRows).bytes;
  return {
    bundle: digestOf(bundle),
    snapshot: digestOf(snapshot),
    blobs: new Map([bundle, snapshot].map((bytes) => [digestOf(bytes), bytes])),
  };
};

const { blobs, ...world } = worldOfAttacks();
const names = runtimesOfTier(['process', 'docker'] as const);
const missing = await findMissingRuntimes();
if (names.includes('docker') && missing.docker !== undefined)
  console.info(`Docker is not tested: ${missing.docker}`);

describe.each(names)('a grade on %s', (name) => {
  describe.skipIf(missing[name] !== undefined)('for a session whose task is not done', () => {
    let hosts: DrivenHosts;
    let host: DrivenHost;
    beforeAll(async () => {
      hosts = await prepareDrivenHosts(name);
      host = await hosts.start(blobs);
      await host.control.message('reportWarm');
      const task = { seed: { rows: {} }, grader: { kind: 'python', source: grader } } as const;
      host.control.assign(assignment({ ...world, task }));
      await host.control.message('reportReady');
    }, 300_000);
    afterAll(() => hosts.stop());

    const failed = {
      passed: false,
      checks: [
        { name: 'issue 10 is closed', passed: false, detail: 'it is open' },
        { name: 'two users', passed: true },
        { name: "the helper is the world's own", passed: true },
        { name: 'no request closed it', passed: true },
      ],
    };
    const grade = () => host.control.call('grade');
    const call = async (tool: string) => (await host.control.call('tool', tool, {})).output;

    it('fails the session, with the same bytes each time', async () => {
      const first = await grade();
      expect(first.output).toMatchObject(failed);
      expect(JSON.stringify(await grade())).toBe(JSON.stringify(first));
    });

    it.each(typescriptAttacks)('is not changed by a tool in TypeScript that %s', async (tool) => {
      await call(tool);
      expect((await grade()).output).toMatchObject(failed);
    });

    it.each(['writes_the_ledger', 'replaces_check', 'replaces_modules', 'replaces_channel'])(
      'is not changed by a tool in Python that %s',
      async (tool) => {
        expect(await call(tool)).toBe(1);
        expect((await grade()).output).toMatchObject(failed);
      },
    );

    it('keeps the grader’s source from a thread that waits for it', async () => {
      await call('waits_for_the_source'); // The tool fails where the thread is detected, and the thread is killed.
      expect((await grade()).output).toMatchObject(failed);
      expect(await call('tells_what_it_read')).toBe(0);
    });

    // These run last: they disturb the session's own calls, too.
    it.each(['answers_from_a_thread', 'replaces_builtins'])(
      'is not changed by a tool in Python that %s',
      async (tool) => {
        await call(tool);
        expect((await grade()).output).toMatchObject(failed);
      },
    );
  });
});
