import { describe, expect, it } from 'vitest';
import type { ProgramLine } from './lines.ts';
import { readProgramLine } from './read.ts';

const problem = { file: 'pools.toml', pointer: '', code: 'unknown_key', message: 'no such key' };

const said: ProgramLine[] = [
  { listening: ['http://127.0.0.1:1'], hosts: [], internal: ['http://127.0.0.1:2'] },
  { leading: false },
  { launches: { pool: 'standard', failuresInARow: 1, heldForMs: 99.5, reason: 'no room' } },
  { configuration: { file: 'pools.toml', problems: [problem], warnings: [] } },
  { isolation: 'hosts are processes' },
  { progress: 'building' },
  { ready: true, listen: null, host: '127.0.0.1', image: null },
];

describe('readProgramLine', () => {
  it.each(said.map((line) => [Object.keys(line)[0], line]))(
    'parses a line of the kind "%s"',
    (_, line) => expect(readProgramLine(JSON.stringify(line))).toEqual(line),
  );

  it.each([
    'Debugger attached.',
    '[]',
    'null',
    '{"leading":"yes"}',
    '{"ready":false}',
    '{"launches":{"pool":1}}',
    '{"configuration":{"file":"pools.toml"}}',
  ])('returns undefined for %s', (text) => expect(readProgramLine(text)).toBeUndefined());
});
