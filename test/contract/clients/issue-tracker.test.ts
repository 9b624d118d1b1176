/**
 * The vendor's client in Python, unmodified from its registry, doing everyday work on a session of `issue-tracking`.
 * The client gets only the address and token of the session. It is one program, which reports all its calls. A call
 * passes if the client accepted the answer and its result is right. The template's README states the number. The tests
 * of the JavaScript client are in the world host (`issue-tracking/everyday.test.ts`).
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openIssueTracker } from '../../support/templates/issue-tracker.ts';
import { findPythonWith, type Program } from './packages.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');

/** Report of the program by flow: its calls in order, each with its fault if it has one. */
type CallsByFlow = Record<string, { call: string; fault: string | null }[]>;

const flows = [
  'site',
  'people',
  'projects',
  'issues',
  'what is added',
  'search',
  'webhooks',
  'error classes',
] as const;

const python = (name: string) =>
  findPythonWith('jira', join(import.meta.dirname, `python/${name}.py`));
const program = await python('with_jira');
const reader = await python('read_jira_webhooks');
const world = await openIssueTracker();
afterAll(() => world.stop());

describe.skipIf('missing' in program)('jira for Python does its everyday work', () => {
  let callsByFlow: CallsByFlow = {};
  beforeAll(async () => {
    const { command, args, env } = program as Program;
    const client = { ...env, SVC_CLIENT_URL: world.url, SVC_CLIENT_TOKEN: world.token };
    const { stdout } = await run(command, args, { env: client, maxBuffer: 8 * 1024 * 1024 });
    callsByFlow = JSON.parse(stdout) as CallsByFlow;
  }, 240_000);

  it.each(flows)('on %s', (flow) => {
    const calls = callsByFlow[flow] ?? [];
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.filter(({ fault }) => fault !== null)).toEqual([]);
  });

  it('with as many passed calls as the README of the template says', () => {
    expect(Object.keys(callsByFlow)).toEqual([...flows]);
    const readme = readFileSync(join(root, 'src/templates/issue-tracking/README.md'), 'utf8');
    const calls = Object.values(callsByFlow).flat();
    const passed = calls.filter(({ fault }) => fault === null);
    expect(/\| jira 3[\d.]+ \(PyPI\) \| (.+?) \|/.exec(readme)?.[1]).toBe(
      `${passed.length} of ${calls.length}`,
    );
  });

  it('with the webhooks verified by their secret and read by its own resources', async () => {
    const sent = (await world.deliveries()).map(({ operation, request }) => {
      const { headers, body } = request as { headers: object; body: unknown };
      return { event: operation, headers, body: JSON.stringify(body) };
    });
    const events = sent.map(({ event }) => event);
    expect(events).toEqual(['jira:issue_created', 'comment_created', 'jira:issue_updated']);
    const { command, args, env } = reader as Program;
    const { stdout } = await run(command, args, {
      env: { ...env, SVC_WEBHOOKS: JSON.stringify(sent), SVC_WEBHOOK_SECRET: 'mooring' },
    });
    expect(JSON.parse(stdout)).toEqual(sent.map(() => null));
  }, 60_000);
});
