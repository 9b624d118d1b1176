/** Compares a folder with its vendor as `svc worlds connector conform` does, but in this process. */
import type { TreeFile } from '#domain/world.ts';
import type { Answer } from '#mirror/conform/compare.ts';
import { type AskWorld, type ConformReport, conform } from '#mirror/conform/conform.ts';
import { planPlays } from '#mirror/conform/plan.ts';
import { readCapturedWorld } from '../../../src/cli/service/captured-world.ts';
import { type ServedWorld, serveWorld } from '../host/serve-world.ts';

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text === '' ? null : text;
  }
};

const askOf =
  ({ url, token }: ServedWorld): AskWorld =>
  async ({ method, path, body }): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { status, headers } = response;
    return { status, headers: Object.fromEntries(headers), body: parse(await response.text()) };
  };

/**
 * Sends every request that can be sent, and compares the answers. Requests that write use rows that no other request
 * uses.
 */
export const conformServed = async (files: readonly TreeFile[]): Promise<ConformReport> => {
  const { files: all, compiled, captures } = readCapturedWorld('the folder', files);
  const { contract, baseRows } = compiled;
  const plan = planPlays(contract, captures, (entity) => baseRows[entity] ?? []);
  const served = await serveWorld(all, { seed: 1 });
  try {
    const options = { contract, plan, base: served.url, ask: askOf(served) };
    const reads = await conform(options, 'reads');
    if (plan.writes.length === 0) return reads;
    await served.reset();
    return await conform(options, 'writes', reads);
  } finally {
    await served.stop();
  }
};
