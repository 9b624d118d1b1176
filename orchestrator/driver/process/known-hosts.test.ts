import { describe, expect, it } from 'vitest';
import type { FoundProcess } from './host-process.ts';
import { createKnownHosts } from './known-hosts.ts';

const setUp = () => {
  const machine = new Map<string, { runs: boolean }>();
  let looks = 0;
  let ms = 0;
  const find = async (): Promise<Map<string, FoundProcess>> => {
    looks += 1;
    const running = [...machine].filter(([, { runs }]) => runs);
    return new Map(
      running.map(([hostId, program], index) => [
        hostId,
        { group: index, digest: 'd', stillRuns: () => program.runs },
      ]),
    );
  };
  const known = createKnownHosts('ins', find, () => ms);
  return {
    machine,
    looks: () => looks,
    pass: (more: number) => {
      ms += more;
    },
    ask: async (folders: string[], children: string[] = []) => [
      ...(await known({ folders, children })).keys(),
    ],
  };
};

describe('the processes of hosts', () => {
  it('are searched for once while nothing changes', async () => {
    const { machine, ask, looks, pass } = setUp();
    machine.set('a', { runs: true }).set('b', { runs: true });
    for (let time = 0; time < 4; time += 1) {
      expect(await ask(['a', 'b'])).toEqual(['a', 'b']);
      pass(400);
    }
    expect(looks()).toBe(1);
  });

  it('are reported missing as soon as they have ended', async () => {
    const { machine, ask } = setUp();
    const program = { runs: true };
    machine.set('a', program);
    expect(await ask(['a'])).toEqual(['a']);
    program.runs = false;
    expect(await ask(['a'])).toEqual([]);
  });

  it('are found as soon as their folder exists, or they were started in an existing one', async () => {
    const { machine, ask } = setUp();
    expect(await ask(['a'])).toEqual([]);
    machine.set('a', { runs: true });
    expect(await ask(['a'], ['a'])).toEqual(['a']);
    machine.set('b', { runs: true });
    expect(await ask(['a', 'b'], ['a'])).toEqual(['a', 'b']);
  });

  it('are found within two seconds if another orchestrator left them without a folder', async () => {
    const { machine, ask, pass } = setUp();
    machine.set('a', { runs: true });
    expect(await ask(['a'])).toEqual(['a']);
    machine.set('left', { runs: true });
    expect(await ask(['a'])).toEqual(['a']);
    pass(2_000);
    expect(await ask(['a'])).toEqual(['a', 'left']);
  });
});
