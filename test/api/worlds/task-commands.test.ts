/** Tests `svc worlds task` against a control plane. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDesk, type Desk } from '../../support/cli/commands-on-control.ts';
import type { TestControl } from '../../support/control/control.ts';
import { changed } from '../../support/control/pushes.ts';
import { shareControl } from '../../support/control/shared-control.ts';
import { notesWorld } from '../../support/worlds/worlds.ts';

let control: TestControl;
let desk: Desk;

beforeAll(async () => {
  control = await shareControl();
  desk = createDesk(control);
  desk.write('notes', notesWorld());
  expect((await desk.svc('worlds create notes --from ./notes')).status).toBe(0);
});

afterAll(async () => {
  desk.clear();
});

/** Runs a command and returns its output; fails the test if the command fails. */
const svc = async (words: string): Promise<string> => {
  const { status, out, err } = await desk.svc(words);
  expect(status, err).toBe(0);
  return out;
};

const writeTask = (name: string, spec: object): void =>
  desk.write('.', changed([], { [`${name}.json`]: JSON.stringify(spec) }));

const spec = {
  instruction: 'Finish note 7.',
  seed: { rows: { notes: [{ id: 7, folder_id: 1, title: 'seven', done: false }] } },
  grader: { kind: 'assertions', checks: [{ entity: 'notes', where: { id: 7, done: true } }] },
  metadata: { difficulty: 'hard' },
};

it('svc worlds task stores, shows, lists, changes and deletes tasks', async () => {
  writeTask('seven', spec);
  const made = await svc('worlds task create notes@1 --task-file seven.json --name seven -m first');
  const id = /tsk-\w+/.exec(made)?.[0] ?? '';
  expect(made).toMatch(/world +notes@1/);
  expect(made).toMatch(/grader +1 check/);
  expect(made).toMatch(/seed +append: notes 1/);
  writeTask('seven', { ...spec, instruction: 'Finish it.' });
  const changedText = await svc(`worlds task update ${id} --task-file seven.json -m shorter`);
  expect(changedText).toMatch(/version +2 of 2/);
  expect(changedText).toMatch(/^2 .*shorter\n1 .*first$/m);
  expect(await svc(`worlds task show ${id} --task-version 1`)).toMatch(
    /instruction +Finish note 7/,
  );
  expect(await svc(`worlds task update ${id} --version-id none --name eight`)).toMatch(
    /name +eight\nworld +notes\n/,
  );
  expect(await svc('worlds task list --world notes --metadata difficulty=hard')).toContain(id);
  expect(await svc('worlds task list --metadata difficulty=easy')).toMatch(/^no stored tasks/);
  expect(await svc(`worlds session open --task-id ${id} --task-version 1 --no-wait`)).toContain(
    'Finish note 7.',
  );
  expect((await desk.svc(`worlds task delete ${id}`)).status).toBe(1);
  expect(await svc(`worlds task delete ${id} --yes`)).toBe(`${id} is deleted\n`);
});

it('svc worlds task validate checks a task against its world and exits with 1 when the task does not fit', async () => {
  writeTask('odd', { tools: ['list_note'] });
  const made = JSON.parse(await svc('worlds task create notes --task-file odd.json --json'));
  const { status, out } = await desk.svc(`worlds task validate ${made.id}`);
  expect(status).toBe(1);
  expect(out).toMatch(/version 1 of tsk-\w+ in notes@1 is not valid:\n +tools\.0: .*list_note/);
  writeTask('odd', spec);
  await svc(`worlds task update ${made.id} --task-file odd.json`);
  expect(await svc(`worlds task validate ${made.id} --world notes@1`)).toMatch(/is valid\n$/);
});

it('svc worlds task create stores the inline task of a session', async () => {
  writeTask('inline', { ...spec, name: 'tried' });
  const opened = await svc('worlds session open notes --task-file inline.json --no-wait --json');
  const { id } = JSON.parse(opened);
  expect(await svc(`worlds task create --session ${id}`)).toMatch(/name +tried\nworld +notes@1/);
  const { status, err } = await desk.svc(`worlds task create notes --session ${id}`);
  expect([status, err]).toEqual([1, expect.stringContaining('--session')]);
});

it('svc worlds task init writes a starter task and does not overwrite a file without --force', async () => {
  expect(await svc('worlds task init begun.json')).toContain('svc worlds task prove');
  const again = await desk.svc('worlds task init begun.json');
  expect(again).toMatchObject({ status: 1, err: expect.stringContaining('--force') });
  expect(await svc('worlds task init begun.json --force')).toContain('begun.json');
  const wrong = await desk.svc('worlds session open notes --task-file begun.json --no-wait');
  expect(wrong.err).toContain('the world has no entity "orders"');
});
