/**
 * Any body from a client or a host costs the control plane's process little: its processor time and memory are bounded,
 * measured from outside. Bodies are generated from the schemas of the operations, valid and broken in every way
 * (`bodies.ts`).
 *
 * The ordinary tests send a few bodies, the same each time, and check only the answers. `make fuzz-http` sends
 * bodies for minutes and checks each against the bound. A body over the bound is repeated, because a garbage collection
 * may fall into any request. The body counts as a finding only if every repetition is over the bound.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import { basicAuthorization } from '#wire/client.ts';
import * as hostApi from '#wire/host-api/operations.ts';
import { type OperationShape, operationsOf } from '#wire/operation.ts';
import * as publicApi from '#wire/public-api/operations.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { createChance } from '../../support/random/chance.ts';
import { type MadeBody, makeBody } from './bodies.ts';
import type { Said } from './control-process.ts';
import { measure, type Taken } from './measure.ts';
import { send } from './send.ts';

const { minutes, seed, report } = inject('fuzzHttp');

/** Upper bound for one body: a fixed part, and a part for its size. */
const cpuMs = { base: 50, perKb: 0.02 };
/** Node allocates memory in chunks; growth below the base says nothing about one request. */
const memory = { base: 48 * 1024 * 1024, perByte: 20 };
const tries = 4;
const fewBodies = 150;
const fewBytes = 1_500_000;

/**
 * Operations whose body would end the test's session or host, or that would wait for a host
 * forever. They get an unknown id.
 */
const ending =
  /^(close|reportClosed|reportFailed|reportUnloaded|reportWarm|reportLeaving|createSurface|proveTask)/;

const targets = [publicApi, hostApi].flatMap(operationsOf).filter(({ body }) => body !== undefined);

let database: TestDatabase;
let child: ReturnType<typeof fork>;
let said: Said;

beforeAll(async () => {
  database = await testDatabase();
  const program = new URL('./control-process.ts', import.meta.url).pathname;
  child = fork(program, [database.url], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  [said] = (await once(child, 'message')) as [Said];
});
afterAll(async () => {
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
  await database.drop();
});

const addressOf = ({ id, path, access }: OperationShape): string => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    ending.test(id) ? 'none' : (said.params[name] ?? 'none'),
  );
  return access === 'host'
    ? `${said.hostUrl}/api/host${filled}`
    : `${said.publicUrl}/api/public${filled}`;
};

const sendBody = (shape: OperationShape, bytes: Uint8Array) =>
  send({
    method: shape.method,
    url: addressOf(shape),
    authorization:
      shape.access === 'host'
        ? `Bearer ${said.hostToken}`
        : basicAuthorization(said.publicKey, said.secretKey),
    bytes,
  });

const refusal = { fields: 50, bytes: 64 * 1024 };

/** Returns the fault of an answer that is wrong for any body. */
const faultOf = ({ status, size, text }: Awaited<ReturnType<typeof send>>): string | undefined => {
  if (status === 500) return `answered 500: ${text}`;
  if (status >= 400 && size > refusal.bytes && !text.includes('"problems"')) {
    return `answered ${status} with ${size} bytes`;
  }
  return undefined;
};

/** Returns the next operation and its body. */
const nextBody = (chance: ReturnType<typeof createChance>, mostBytes: number) => {
  const shape = targets[Math.floor(chance.share() * targets.length)] as OperationShape;
  const most = Math.min(shape.bodyBytes ?? limits.bodyBytes, mostBytes);
  return { shape, made: makeBody(shape.body, most, chance) };
};

const isOver = (taken: Taken, bytes: number): boolean =>
  taken.cpuMs > cpuMs.base + (bytes / 1_024) * cpuMs.perKb ||
  taken.memoryBytes > memory.base + bytes * memory.perByte;

const tellTaken = ({ cpuMs: cpu, memoryBytes }: Taken): string =>
  `${cpu.toFixed(1)} ms, ${(memoryBytes / 1_048_576).toFixed(1)} MiB`;

/**
 * Sends a body and measures it, repeatedly while it is over the bound. Returns a finding if all tries are over the
 * bound.
 */
const tryBody = async (shape: OperationShape, { bytes, oddity }: MadeBody) => {
  const name = `${shape.id} with ${oddity}, ${bytes.byteLength} bytes`;
  const each: Taken[] = [];
  let status = 0;
  for (let count = 0; count < tries; count += 1) {
    const taken = measure(child.pid as number);
    const answer = await sendBody(shape, bytes);
    each.push(taken());
    status = answer.status;
    const fault = faultOf(answer);
    if (fault !== undefined) return { each, status, find: `${name}: ${fault}` };
    if (!isOver(each.at(-1) as Taken, bytes.byteLength)) return { each, status, find: undefined };
  }
  return { each, status, find: `${name}: ${each.map(tellTaken).join('; ')}` };
};

const tell = (line: string): void => {
  if (report !== null) appendFileSync(report, `${line}\n`);
};

describe('a body of any kind', () => {
  it('gets a well-formed answer, and the process survives', { timeout: 120_000 }, async () => {
    const chance = createChance(1);
    const faults: string[] = [];
    for (let count = 0; count < fewBodies; count += 1) {
      const { shape, made } = nextBody(chance, fewBytes);
      const fault = faultOf(await sendBody(shape, made.bytes));
      if (fault !== undefined) faults.push(`${shape.id} with ${made.oddity}: ${fault}`);
    }
    expect(faults).toEqual([]);
    expect(child.exitCode).toBe(null);
  });

  const timeout = (minutes + 5) * 60_000;
  it.runIf(minutes > 0)('costs no more than the limits for its size', { timeout }, async () => {
    const chance = createChance(seed);
    const finds: string[] = [];
    const endsAt = Date.now() + minutes * 60_000;
    let bodies = 0;
    let bytes = 0;
    let worst = { share: 0, text: '' };
    const statuses = new Map<number, number>();
    while (Date.now() < endsAt) {
      const { shape, made } = nextBody(chance, Number.POSITIVE_INFINITY);
      const size = made.bytes.byteLength;
      const { each, find, status } = await tryBody(shape, made);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      bodies += 1;
      bytes += size;
      const best = Math.min(...each.map((taken) => taken.cpuMs));
      const share = best / (cpuMs.base + (size / 1_024) * cpuMs.perKb);
      if (share > worst.share) {
        worst = {
          share,
          text: `${shape.id} with ${made.oddity}, ${size} bytes: ${best.toFixed(1)} ms`,
        };
      }
      if (find !== undefined) {
        finds.push(find);
        tell(`find: ${find}`);
      }
      if (bodies % 200 === 0) {
        tell(
          `${bodies} bodies, ${Math.round(bytes / 1e6)} MB, ${finds.length} finds; nearest to the bound of time: ${worst.text}`,
        );
      }
    }
    const ended = [...statuses].sort().map(([status, count]) => `${count} of ${status}`);
    tell(`answers: ${ended.join(', ')}`);
    tell(
      `done: seed ${seed}, ${bodies} bodies, ${Math.round(bytes / 1e6)} MB, ${finds.length} finds; nearest to the bound of time: ${worst.text}`,
    );
    expect(finds).toEqual([]);
  });
});
