/**
 * The script of `helm test`: its message for an overloaded installation and for one that refuses
 * its world, and the key pair it uses out of several. Also the key pair that the notes after an
 * installation show.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { chartFolder } from '../support/orchestrator/chart.ts';

const script = join(chartFolder, 'scripts/try-session.mjs');

describe('the test of an installation', () => {
  let stop: () => void = () => undefined;
  afterEach(() => stop());

  /** Runs the script against a server with this answer; returns its error message. */
  const complaintAt = async (
    answer: RequestListener,
    keys = { PUBLIC_KEY: 'pk-1', SECRET_KEY: 'sk-1' },
  ): Promise<string> => {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stop = () => server.close();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { CONTROL: url, GATEWAY: url, ...keys };
    return new Promise((resolve) => {
      execFile(process.execPath, [script], { env }, (_, __, complaint) => resolve(complaint));
    });
  };

  it('reports an overloaded installation as overloaded, and not its world as invalid', async () => {
    const said = await complaintAt((_, response) => {
      response.writeHead(503, { 'retry-after': '600' }).end('{"code":"unavailable"}');
    });
    expect(said).toContain('the installation is too busy or lacks a part');
    expect(said).toContain('POST /worlds: 503');
  });

  it('repeats a request to a busy installation with the same key, and reports the refusal that follows', async () => {
    const keys: unknown[] = [];
    const said = await complaintAt(({ headers }, response) => {
      keys.push(headers['idempotency-key']);
      const status = keys.length === 1 ? 429 : 400;
      response.writeHead(status, { 'retry-after': '0' }).end('{"code":"invalid"}');
    });
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(said).toContain('POST /worlds: 400 {"code":"invalid"}');
    expect(said).not.toContain('too busy');
  });
  it('uses the first of several key pairs', async () => {
    const asked: unknown[] = [];
    const answer: RequestListener = ({ headers }, response) => {
      asked.push(headers.authorization);
      response.writeHead(400).end('{"code":"invalid"}');
    };
    await complaintAt(answer, { PUBLIC_KEY: 'pk-new pk-old', SECRET_KEY: 'sk-new\nsk-old\n' });
    expect(asked).toEqual([basicAuthorization('pk-new', 'sk-new')]);
  });
});

describe('the notes after an installation', () => {
  it.each(['public-key', 'secret-key'])('show the first of several key pairs: %s', async (key) => {
    const notes = readFileSync(join(chartFolder, 'templates/NOTES.txt'), 'utf8').split('\n');
    const line = notes.find((one) => one.includes(`"${key}"`)) ?? '';
    const name = /SVC_\w+/.exec(line)?.[0];
    // Helm fills in only arguments of kubectl, which a shell function replaces here.
    for (const kept of ['new old', '\nnew\nold\n', 'new']) {
      const shell = `kubectl() { printf '%s' "$KEPT"; }\n${line}\nprintf '%s' "$${name}"`;
      const env = { ...process.env, KEPT: kept };
      const { stdout } = await promisify(execFile)('sh', ['-c', shell], { env });
      expect(stdout).toBe('new');
    }
  });
});
