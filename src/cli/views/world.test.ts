import { expect, it } from 'vitest';
import type { WorldDetail } from '#wire/public-api/world.ts';
import { describeWorld } from './world.ts';

const world: WorldDetail = {
  id: 'wld_1',
  containerId: 'wld_1',
  slug: 'board',
  path: 'local/default/board',
  kind: 'mock-tools',
  name: 'Board',
  description: null,
  version: {
    id: 'ver_1',
    number: 1,
    state: 'READY',
    contentHash: 'sha256:0',
    message: null,
    createdAt: '2025-01-02T03:04:05.000Z',
    entityCounts: { cards: 2 },
  },
  surfaces: ['api'],
  tools: [],
  tasks: [],
  url: '',
  links: { api: '', world: '', tasks: '', sessions: '' },
  redact: null,
  dependencies: [],
  createdAt: '2025-01-02T03:04:05.000Z',
  warnings: [
    'webhooks are noted in the request ledger, but not sent yet',
    'the surface "ui" is not served yet',
  ],
  files: [],
};

it('says what the sessions of a world will lack', () => {
  const lines = describeWorld(world).split('\n');
  expect(lines.filter((line) => line.includes('yet'))).toEqual([
    expect.stringMatching(/^warning +webhooks are noted in the request ledger, but not sent yet$/),
    expect.stringMatching(/^warning +the surface "ui" is not served yet$/),
  ]);
});
