/** Proves the tasks that the device manager bundles, and tests that the graders fail mistakes of an agent. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DeviceManager,
  openDeviceManager,
} from '#test/support/templates/device-management.ts';
import { templateTree } from '#test/support/worlds/worlds.ts';
import type { Proof } from '#wire/public-api/evaluation/proof.ts';

const tasks = templateTree('device-management')
  .flatMap(({ path }) => /^scenarios\/([^/]+)\/scenario\.toml$/.exec(path)?.[1] ?? [])
  .sort();

let world: DeviceManager;
beforeAll(async () => {
  world = await openDeviceManager();
}, 120_000);
afterAll(() => world.stop());

describe('the proof of a bundled task', { timeout: 240_000 }, () => {
  it('exists for four tasks', () => expect(tasks).toHaveLength(4));

  it.each(tasks)('passes for %s', async (task) => {
    await world.begin(task);
    const { output, error } = await world.call('prove');
    expect(error).toBeUndefined();
    const proof = output as Proof;
    expect(proof.rows.filter(({ ok }) => !ok)).toEqual([]);
    expect(proof.neverBites).toEqual([]);
    expect(proof.passed).toBe(true);
  });
});

const isolheim = '876bb4a4-2e58-477d-8f02-44c7705ffc05';
const iMac = '573aeaa5-2edf-4d59-a209-7d9734ba9529';
const command = (managementId: string, commandType: string, pin = '482913') => [
  'send_command',
  { clientData: [{ managementId }], commandData: { commandType, pin } },
];
const group = ['change_group_members', { kind: 'computers', group_id: 7, add: [1] }];

describe('a wrong end state', { timeout: 120_000 }, () => {
  it.each([
    ['lock-a-stolen-laptop', 'her other computer is locked', [command(iMac, 'DEVICE_LOCK'), group]],
    ['lock-a-stolen-laptop', 'it is erased', [command(isolheim, 'ERASE_DEVICE'), group]],
    [
      'lock-a-stolen-laptop',
      'the PIN is another',
      [command(isolheim, 'DEVICE_LOCK', '000000'), group],
    ],
    [
      'move-a-department',
      'everybody of the building moves',
      Array.from({ length: 150 }, (_, index) => [
        'update_computer',
        { id: String(index + 1), userAndLocation: { buildingId: '2' } },
      ]),
    ],
    [
      'encrypt-what-is-not',
      'the policy stays for everybody',
      [
        [
          'create_smart_group',
          {
            kind: 'computers',
            name: 'Not encrypted',
            criteria: [
              { name: 'Managed', search_type: 'is', value: 'true' },
              { name: 'FileVault 2 Status', search_type: 'is not', value: 'ALL_ENCRYPTED' },
            ],
          },
        ],
        ['change_policy', { policy_id: 5, enabled: true, scope: { computer_groups: [12] } }],
      ],
    ],
  ])('of the task %s fails: %s', async (task, _, calls) => {
    await world.begin(task);
    for (const [name, input] of calls) {
      await world.tool(name as string, input as Record<string, unknown>);
    }
    expect(await world.passes()).toBe(false);
  });

  it('of the task count-stale-devices fails: unsupervised devices are counted, too', async () => {
    await world.begin('count-stale-devices');
    await world.call('answer', undefined, { answer: 3 });
    expect(await world.passes()).toBe(false);
  });
});
