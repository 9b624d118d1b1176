import { describe, expect, it } from 'vitest';
import { choosePorts, describePorts, type PortWishes } from './ports.ts';

/** Returns a check for ports by which the given ports are taken. */
const taken =
  (...ports: number[]) =>
  async (port: number): Promise<string | undefined> =>
    ports.includes(port) ? 'EADDRINUSE' : undefined;

const choose = (wishes: Partial<PortWishes>, look = taken()) =>
  choosePorts(
    {
      port: 4620,
      remembered: undefined,
      gateway: undefined,
      metrics: undefined,
      tls: false,
      ...wishes,
    },
    look,
  );

describe('choosing ports', () => {
  it('uses the requested port for the API, and the next ones for the other programs', async () => {
    const ports = await choose({});
    expect(ports).toEqual({ api: 4620, host: 4621, internal: 4622, database: 4623 });
    expect(describePorts(ports)).toBe('4620 API, 4621 host API, 4622 internal, 4623 PostgreSQL');
  });

  it('skips occupied ports of the range, and ports that other options name', async () => {
    const ports = await choose({ gateway: 4622, tls: true }, taken(4621, 4624));
    expect(ports).toMatchObject({ host: 4623, internal: 4625, database: 4626, gateway: 4622 });
    expect(ports.behind).toEqual({ control: 4627, gateway: 4628 });
    expect(describePorts(ports)).toContain('4627 and 4628 behind https, 4622 gateway');
  });

  it('reuses the port of the last start if any port may be used', async () => {
    expect(await choose({ port: 0, remembered: 17_000 })).toMatchObject({ api: 17_000 });
    const { api } = await choose({ port: 0, remembered: 17_000 }, taken(17_000));
    expect(api).not.toBe(17_000);
  });

  it.each([
    ['--port', {}, 4620],
    ['--gateway', { gateway: 4600 }, 4600],
    ['--metrics', { metrics: 9464 }, 9467],
  ])(
    'refuses a taken port of %s, with a hint at how to choose another one',
    async (option, wishes, port) => {
      await expect(choose(wishes, taken(port))).rejects.toMatchObject({
        code: 'conflict',
        message: `port ${port} is taken`,
        detail: { hint: `choose another port with ${option} <number>; 0 means any free one` },
      });
    },
  );

  it('fails if the range has too few free ports', async () => {
    const others = [4621, 4622, 4623, 4624, 4625, 4626, 4627];
    await expect(choose({}, taken(...others))).rejects.toMatchObject({
      message: '3 free ports are needed after port 4620, but of 4621 to 4629 only 2 are free',
    });
    await expect(choose({ port: 65_535 })).rejects.toThrow('only 0 are free');
  });
});
