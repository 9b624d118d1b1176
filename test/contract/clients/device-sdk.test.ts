/**
 * The usual client of the device manager, `jamf-pro-sdk`, unmodified from its registry, doing everyday work on a
 * session of `device-management`. The client gets only the address and token of the session. It is one program in
 * `python/`, which reports all its calls. The client's own models read the webhooks that result.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDeviceManager } from '../../support/templates/device-management.ts';
import { findPythonWith, type Program } from './packages.ts';

const run = promisify(execFile);
const programs = join(import.meta.dirname, 'python');
const program = await findPythonWith('device-sdk', join(programs, 'with_device_sdk.py'));
const reader = await findPythonWith('device-sdk', join(programs, 'read_device_webhooks.py'));

/** Report of the program by flow: its calls in order, each with its fault if it has one. */
type CallsByFlow = Record<string, { call: string; fault: string | null }[]>;

const flows = [
  'tokens',
  'computers',
  'filters and sorting',
  'mobile devices',
  'commands',
  'groups',
  'older api',
  'policies and profiles',
  'webhooks',
  'error classes',
];

const world = await openDeviceManager();
afterAll(() => world.stop());

describe.skipIf('missing' in program)('jamf-pro-sdk does its everyday work', () => {
  let callsByFlow: CallsByFlow = {};
  beforeAll(async () => {
    const { command, args, env } = program as Program;
    const client = { ...env, SVC_CLIENT_URL: world.url, SVC_CLIENT_TOKEN: world.token };
    const { stdout } = await run(command, args, { env: client, maxBuffer: 64 * 1024 * 1024 });
    // The client prints its XML requests, so the program's report is the last line.
    callsByFlow = JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1)) as CallsByFlow;
  }, 240_000);

  it.each(flows)('on %s', (flow) => {
    const calls = callsByFlow[flow] ?? [];
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.filter(({ fault }) => fault !== null)).toEqual([]);
  });

  it('with as many calls as the README of the template says', () => {
    expect(Object.keys(callsByFlow)).toEqual(flows);
    const readme = readFileSync(
      join(import.meta.dirname, '../../../src/templates/device-management/README.md'),
      'utf8',
    );
    expect(readme).toContain(`${Object.values(callsByFlow).flat().length} calls`);
  });

  it('and its models parse the webhooks that the world sent', async () => {
    const sent = await world.deliveries();
    const bodies = sent.map(({ operation, request }) => ({
      event: operation,
      body: (request as { body: unknown }).body,
    }));
    expect(bodies.map(({ event }) => event).sort()).toEqual(
      expect.arrayContaining(['ComputerAdded', 'SmartGroupComputerMembershipChange']),
    );
    const { command, args, env } = reader as Program;
    const { stdout } = await run(command, args, {
      env: { ...env, SVC_WEBHOOKS: JSON.stringify(bodies) },
    });
    expect(JSON.parse(stdout)).toEqual(bodies.map(() => null));
  }, 60_000);
});
