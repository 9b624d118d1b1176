import type Docker from 'dockerode';
import { expect, it } from 'vitest';
import { requireIsolation, runtimeOf } from './isolation.ts';

const engineWith = (runtimes: object): Docker =>
  ({ info: async () => ({ Runtimes: runtimes }) }) as unknown as Docker;

it('the isolation `container` requires nothing of the engine', async () => {
  expect(runtimeOf('container')).toBeUndefined();
  await requireIsolation({} as Docker, 'container');
});

it('gVisor is accepted if it uses the network stack to which the network rules apply: that of the machine', async () => {
  const engine = engineWith({ runsc: { path: 'runsc', runtimeArgs: ['--network=host'] } });
  await requireIsolation(engine, 'gvisor');
  expect(runtimeOf('gvisor')).toBe('runsc');
});

it.each([
  ['gvisor', { runc: {} }, /takes the runtime "runsc".+has only runc: install gVisor/],
  [
    'gvisor',
    { runsc: { path: 'runsc' } },
    /bypasses the network rules of hosts: give it the argument --network=host/,
  ],
  ['kata', { kata: {} }, /not "kata"/],
  ['process', { runc: {} }, /not "process"/],
] as const)(
  'the isolation %s is refused on an engine with %o',
  async (isolation, runtimes, message) => {
    await expect(requireIsolation(engineWith(runtimes), isolation)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(message),
    });
  },
);
