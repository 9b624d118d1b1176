import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import type { ConfigurationLine } from '#wire/program-lines/lines.ts';
import { type LiveSettings, openLiveSettings } from './live-settings.ts';

let folder: string;
let file: string;
let said: ConfigurationLine['configuration'][];
let live: LiveSettings | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-settings-'));
  file = join(folder, 'pools.toml');
  said = [];
  live = undefined;
});

afterEach(async () => {
  await live?.stop();
  await rm(folder, { recursive: true });
});

const pool = (maximum: number): string => `[pools.a]\nmaximum = ${maximum}\n`;

const open = async (kept?: string): Promise<LiveSettings> => {
  live = await openLiveSettings({
    file,
    findKept: async () => kept,
    context: {
      runtime: 'process',
      sessions: { idleMs: 1_000, maxAgeMs: 2_000, provisionMs: 3_000 },
    },
    log: createLog('test', 'silent'),
    say: ({ configuration }) => said.push(configuration),
  });
  return live;
};

const maximum = ({ settings }: LiveSettings) => settings().pools[0]?.maximum;
const eventually = (what: string, probe: () => boolean) =>
  until(probe, { timeoutMs: 15_000, what });

describe('live settings', () => {
  it('follow the file, by every way to replace it', async () => {
    await writeFile(file, pool(3));
    const opened = await open();
    expect(maximum(opened)).toBe(3);
    expect(opened.loops.map(({ status }) => status().name)).toEqual(['configuration']);
    await writeFile(file, pool(4));
    await eventually('the file written over', () => maximum(opened) === 4);
    await writeFile(join(folder, 'new'), `${pool(5)}[sessions]\nidle = "9m"\n`);
    await rename(join(folder, 'new'), file);
    await eventually('another file in its place', () => maximum(opened) === 5);
    expect(opened.settings().sessions).toEqual({
      idleMs: 540_000,
      maxAgeMs: 2_000,
      provisionMs: 3_000,
    });
    expect(said.map(({ pools, problems }) => [pools, problems])).toEqual([
      [['a'], []],
      [['a'], []],
      [['a'], []],
    ]);
  });

  it('follow a symbolic link that is swapped, as Kubernetes does it', async () => {
    const release = async (name: string, text: string): Promise<void> => {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'pools.toml'), text);
      await symlink(name, join(folder, '..data-new'));
      await rename(join(folder, '..data-new'), join(folder, '..data'));
    };
    await release('one', pool(3));
    await symlink(join('..data', 'pools.toml'), file);
    const opened = await open();
    await release('two', pool(7));
    await eventually('the new release', () => maximum(opened) === 7);
  });

  it('stay as they are while the file is invalid or missing, and report each reason once', async () => {
    await writeFile(file, pool(3));
    const opened = await open();
    await writeFile(file, `${pool(0)}surge = 0\n`);
    await eventually('both mistakes reported', () => said.at(-1)?.problems.length === 2);
    expect(said.at(-1)).toEqual({
      file,
      warnings: [],
      problems: [
        expect.objectContaining({ pointer: '/pools/a/maximum', line: 2 }),
        expect.objectContaining({ pointer: '/pools/a/surge', line: 3 }),
      ],
    });
    expect(opened.refusal()).toMatch(/pools\.toml:2:.*maximum.*; .*pools\.toml:3:.*surge/);
    await rm(file);
    await eventually('its absence reported', () => said.at(-1)?.problems.length === 1);
    expect(said.at(-1)?.problems[0]?.message).toContain('cannot be read');
    expect(maximum(opened)).toBe(3);
    const before = said.length;
    await writeFile(file, pool(6));
    await eventually('the right file', () => maximum(opened) === 6);
    expect(said).toHaveLength(before + 1);
    expect(opened.refusal()).toBeUndefined();
  });

  it('are not opened on a file with a mistake', async () => {
    await writeFile(file, '[pools.a]\nmaximun = 3\n');
    await expect(open()).rejects.toMatchObject({
      code: 'invalid',
      message: `configuration: ${file}:2:1: pools.a.maximun: unknown key "maximun" (did you mean "maximum"?)`,
    });
    expect(said[0]?.problems).toHaveLength(1);
  });

  it('begin with the last valid file if the file is invalid, and follow it', async () => {
    await writeFile(file, '[pools.a]\nmaximun = 3\n');
    const opened = await open(pool(4));
    expect(maximum(opened)).toBe(4);
    expect(opened.text()).toBe(pool(4));
    expect(opened.refusal()).toContain('unknown key "maximun"');
    await writeFile(file, pool(5));
    await eventually('the right file', () => maximum(opened) === 5);
    expect([opened.refusal(), opened.text()]).toEqual([undefined, pool(5)]);
  });

  it('fail to open if the file is invalid and the last file that was valid has become invalid too', async () => {
    await writeFile(file, '[pools.a]\nmaximun = 3\n');
    await expect(open('[pools.a]\nminimun = 3\n')).rejects.toMatchObject({ code: 'invalid' });
  });
});
