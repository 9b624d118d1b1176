import { expect, it } from 'vitest';
import { groupListeners } from './listen.ts';

const at = (port: number, host = '127.0.0.1') => ({ host, port });

it('groupListeners puts listeners without a shared address into separate groups', () => {
  const wanted = { public: [at(4500), at(0)], host: [at(4501)], internal: [at(0), at(0)] };
  expect(groupListeners(wanted)).toEqual([
    { serves: ['public'], addresses: [at(4500), at(0)] },
    { serves: ['host'], addresses: [at(4501)] },
    { serves: ['internal'], addresses: [at(0), at(0)] },
  ]);
});

it('groupListeners puts all APIs that name the same address into one group', () => {
  const wanted = {
    public: [at(4500)],
    host: [at(4501), at(4500)],
    internal: [at(4500), at(4500), at(4500, '10.0.0.1')],
  };
  expect(groupListeners(wanted)).toEqual([
    { serves: ['public', 'host', 'internal'], addresses: [at(4500)] },
    { serves: ['host'], addresses: [at(4501)] },
    { serves: ['internal'], addresses: [at(4500, '10.0.0.1')] },
  ]);
});
