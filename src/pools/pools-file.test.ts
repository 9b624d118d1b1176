import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RuntimeName } from '#domain/pool.ts';
import { offerOf } from './pool-config.ts';
import { describeProblem, readPoolsFile } from './pools-file.ts';

const sessions = { idleMs: 1_800_000, maxAgeMs: 86_400_000, provisionMs: 120_000 };

const read = (text: string, runtime?: RuntimeName) =>
  readPoolsFile('pools.toml', text, { runtime, sessions });

const problemsOf = (text: string, runtime?: RuntimeName): string[] =>
  read(text, runtime).problems.map(describeProblem);

const warningsOf = (text: string): string[] => read(text).warnings.map(describeProblem);

const whole = `
[sessions]
idle = "45m"
max_age = "1d12h"

[pools.spot]
tier = "standard"
minimum = 2
maximum = 400
surge = 4
max_age = "24h"
max_age_jitter = 0.3
start_timeout = "3m"
refill = { per_second = 5, burst = 20 }
worlds = { "acme/support/help-desk" = 3, "acme/support/mail" = 1 }

[pools.spot.kubernetes]
nodeSelector = { "kubernetes.io/arch" = "amd64" }

[pools.on-demand]
tier = "premium"
isolation = "gvisor"
image = "registry.example/host:7"
maximum = 20
target = 4

[pools.on-demand.size]
name = "large"
memory_mb = 4096
cpus = 2.5
pids = 512
`;

describe('a configuration file', () => {
  it('uses defaults for settings that it leaves out', () => {
    expect(read(whole, 'kubernetes')).toEqual({
      problems: [],
      warnings: [expect.objectContaining({ message: expect.stringContaining('premium') })],
      settings: {
        sessions: { idleMs: 2_700_000, maxAgeMs: 129_600_000, provisionMs: 120_000 },
        pools: [
          {
            pool: 'spot',
            tier: 'standard',
            isolation: 'container',
            size: { name: 'standard', memoryMb: 512, cpus: 1, pids: 128 },
            kubernetes: expect.objectContaining({
              nodeSelector: { 'kubernetes.io/arch': 'amd64' },
            }),
            minimum: 2,
            maximum: 400,
            target: 'auto',
            surge: 4,
            refill: { perSecond: 5, burst: 20 },
            maxAgeMs: 86_400_000,
            maxAgeJitter: 0.3,
            startMs: 180_000,
            worlds: [
              { world: 'acme/support/help-desk', hosts: 3 },
              { world: 'acme/support/mail', hosts: 1 },
            ],
          },
          {
            pool: 'on-demand',
            tier: 'premium',
            isolation: 'gvisor',
            size: { name: 'large', memoryMb: 4096, cpus: 2.5, pids: 512 },
            image: 'registry.example/host:7',
            minimum: 0,
            maximum: 20,
            target: 4,
            surge: 1,
            refill: { perSecond: 50, burst: 100 },
            maxAgeMs: null,
            maxAgeJitter: 0.2,
            startMs: 60_000,
            worlds: [],
          },
        ],
      },
    });
  });

  it('matches the example in the documentation', () => {
    const page = readFileSync(
      new URL('../../docs/internals/orchestrator.md', import.meta.url),
      'utf8',
    );
    const [, example = ''] = /```toml\n(.*?)```/s.exec(page) ?? [];
    expect(problemsOf(example, 'kubernetes')).toEqual([]);
    expect(read(example, 'kubernetes').settings?.pools).toHaveLength(2);
  });

  it('reports each mistake of a pools file at its line, with a hint', () => {
    const text = `
[session]
idle = "30m"

[pools.Spot]
isolation = "gvizor"
minimum = 9
maximum = 8
surge = 0
max_age = "1 day"
worlds = { "help-desk" = 2 }

[pools.b]
maxium = 4
target = "some"
size = { name = "standard", memory_mb = 64 }
`;
    expect(problemsOf(text)).toEqual([
      'pools.toml:2:2: session: unknown key "session" (did you mean "sessions"?)',
      'pools.toml:5:8: pools.Spot: "Spot" is not a valid name of a pool (names are 1 to 48 small letters, digits and inner hyphens)',
      'pools.toml:6:13: pools.Spot.isolation: must be one of process, container, gvisor, kata, is the text "gvizor" (did you mean "gvisor"?)',
      'pools.toml:7:11: pools.Spot.minimum: 9 is over the maximum of 8',
      'pools.toml:9:9: pools.Spot.surge: must be a whole number from 1 to 100000, is 0',
      'pools.toml:10:11: pools.Spot.max_age: must be a duration from 1m to 365d, but is "1 day" (as in "30s", "24h")',
      'pools.toml:11:12: pools.Spot.worlds.help-desk: "help-desk" does not name a world (write "organization/project/world" = 2)',
      'pools.toml:14:1: pools.b.maxium: unknown key "maxium" (did you mean "maximum"?)',
      'pools.toml:15:10: pools.b.target: must be "auto" or a number of hosts, but is "some"',
      'pools.toml:16:41: pools.b.size.memory_mb: must be a whole number from 128 to 1048576, is 64',
    ]);
    expect(read(text).settings).toBeUndefined();
  });

  it.each([
    ['[pools.a]\nmaximum = 4\ntarget = 5', 'pools.a.target: 5 is over the maximum of 4'],
    [
      '[pools.a]\nmaximum = 4\nminimum = 3\ntarget = 2',
      'pools.a.target: 2 is under the minimum of 3',
    ],
    [
      '[pools.a]\nmaximum = 4\nminimum = 3\nworlds = { "a/b/c" = 2 }',
      'pools.a.worlds: 2 hosts that hold worlds and 3 other warm ones are more than the maximum of 4',
    ],
    [
      '[pools.a]\nmaximum = 4\nmax_age = "1m"\nstart_timeout = "1m"',
      'pools.a.max_age: hosts would exceed this age before the end of their start, which may take 1m',
    ],
    ['pools = {}', 'pools: the table must not be empty'],
    ['', 'pools: the key "pools" is missing'],
    ['[pools.a]\nmaximum = 4\n[pools.a]\nmaximum = 5', 'not valid TOML'],
    [
      '[pools.a]\nmaximum = 4\n[pools.b]\nmaximum = 4\nisolation = "kata"\nsize = { cpus = 2 }',
      'pools.b.size: the size "standard" is 512 MB, 1 cpus and 128 pids in pool "a", and has other resources here (sessions select a size by its name, so give this size another name)',
    ],
  ])('is refused: %s', (text, problem) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining(problem)]);
  });

  it('may request only features that its runtime has', () => {
    const text = (keys: string) => `[pools.a]\nmaximum = 4\n${keys}`;
    expect(problemsOf(text('isolation = "container"\nimage = "x"'), 'process')).toEqual([
      'pools.toml:3:13: pools.a.isolation: the runtime "process" does not support the isolation "container" (it supports process)',
      'pools.toml:4:1: pools.a.image: hosts of the runtime "process" have no image (leave it out)',
    ]);
    expect(problemsOf(text('isolation = "process"\n[pools.a.kubernetes]'), 'docker')).toEqual([
      'pools.toml:3:13: pools.a.isolation: the runtime "docker" does not support the isolation "process" (it supports container, gvisor)',
      'pools.toml:4:10: pools.a.kubernetes: the runtime is "docker", which starts no pods (leave it out)',
    ]);
    expect(problemsOf(text(''), 'process')).toEqual([]);
  });

  it('yields warnings for pools that no session reaches, and for sessions that no pool serves', () => {
    expect(
      warningsOf('[pools.all]\nmaximum = 4\n[pools.few]\ntier = "premium"\nmaximum = 1'),
    ).toEqual([
      'pools.toml:3:1: pools.few: the pool "all" serves all sessions that this one serves, and is tried first (this pool launches hosts for sessions only while the launches of the other one are held, or it is full)',
    ]);
    expect(warningsOf('[pools.few]\ntier = "standard"\nmaximum = 1')).toEqual([
      'pools.toml:1:2: pools: no pool serves premium sessions of the usual size "standard" (such sessions are refused unless they request another size)',
    ]);
  });
});

describe('a pool of browsers', () => {
  it('has a fixed size that no session can request for its world', () => {
    const { settings, warnings } = read(
      '[pools.worlds]\nmaximum = 9\n[pools.looks]\nkind = "browser"\nmaximum = 4\nsize = { memory_mb = 900 }',
    );
    expect(settings?.pools.map(offerOf)).toEqual([
      { tier: null, isolation: 'container', size: 'standard' },
      { tier: null, isolation: 'container', size: ':browser' },
    ]);
    expect(warnings).toEqual([]);
  });

  it('may not have a named size or loaded worlds', () => {
    const table =
      'kind = "browser"\nmaximum = 4\nsize = { name = "big" }\nworlds = { "a/b/c" = 1 }';
    expect(problemsOf(`[pools.worlds]\nmaximum = 9\n[pools.looks]\n${table}`)).toEqual([
      expect.stringContaining('sessions cannot select a size for their browser'),
      expect.stringContaining('browsers hold no worlds'),
    ]);
  });
});
