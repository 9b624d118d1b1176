/**
 * Tests a session of a world whose base rows stay in a file: it has all functions of any session, and never changes the
 * file.
 */
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { openOn, startBench } from '#test/support/host/host-bench.ts';
import { sampleRows } from '#test/support/worlds/sample-contract.ts';
import { sampleVersion } from '#test/support/worlds/sample-world.ts';

const text = 'x'.repeat(2 ** 20);
const many = Array.from({ length: 18 }, (_, index) => ({
  login: `many ${index}`,
  id: 100 + index,
  profile: { name: text },
}));
const version = sampleVersion({ ...sampleRows, users: [...(sampleRows.users ?? []), ...many] });
const { bundle, snapshot, stateDigest } = version;

const grader = (title: string) => ({
  kind: 'sql' as const,
  source: `select count(*) = 20 as passed from users
    union all select title = '${title}' from issues where id = 10`,
});

it('a large world is seeded, changed, graded, reset and recycled, and then has the digest of its base rows again', async () => {
  const { control, workDir } = await startBench(version);
  const task = { name: 'x', grader: grader('By a session') };
  const request = await openOn(control, { bundle, snapshot, task });
  const folder = join(dirname(workDir), 'snapshots');
  const files = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.parentPath.endsWith('files'))
      .map(({ parentPath, name }) => statSync(join(parentPath, name)));
  expect(files()).toMatchObject([{ size: expect.any(Number), mtimeMs: 1_000 }]);
  const update = { owner: 'ann', repo: 'engine', number: 1, title: 'By a session' };
  expect((await control.call('tool', 'update_issue', update)).output).toMatchObject(update);
  expect((await control.call('grade')).output).toMatchObject({ passed: true });
  await control.call('reset');
  expect((await control.call('grade')).output).toMatchObject({ passed: false });
  expect((await request('GET', '/users')).status).toBe(200);
  await control.call('tool', 'update_issue', update);
  control.close(true, 'recycle');
  const recycled = await control.message('reportWarm', 2);
  expect(recycled.body).toMatchObject({ holding: { bundle, stateDigest } });
  expect(files()).toMatchObject([{ mtimeMs: 1_000 }]);
});
