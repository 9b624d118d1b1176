/** Tests `svc dashboards` and `svc task-sets` against a control plane. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as api from '#wire/public-api/operations.ts';
import { createDesk, type Desk } from '../../support/cli/commands-on-control.ts';
import type { TestControl } from '../../support/control/control.ts';
import { changed } from '../../support/control/pushes.ts';
import { shareNotesControl } from '../../support/control/shared-control.ts';

let control: TestControl;
let desk: Desk;

beforeAll(async () => {
  control = await shareNotesControl();
  desk = createDesk(control);
});
afterAll(async () => {
  desk.clear();
});

const svc = async (words: string): Promise<string> => {
  const { status, out, err } = await desk.svc(words);
  expect(status, err).toBe(0);
  return out;
};

it('svc dashboards creates a dashboard, pulls and pushes its code, and reports each refusal with file and line', async () => {
  const id = /dsh-\w+/.exec(await svc('dashboards create mine --template empty'))?.[0] ?? '';
  expect(await svc('dashboards ls')).toMatch(new RegExp(`${id} +mine +sessions +yes`));
  expect(await svc(`dashboards get ${id}`)).toMatch(/files +dashboard\.jsx/);
  expect(await svc(`dashboards pull ${id} code`)).toContain('dashboard.jsx');
  const noteFile = join(desk.folder, 'code/dashboard.json');
  const note = JSON.parse(readFileSync(noteFile, 'utf8')) as { id: string; stamp: string };
  expect(note.id).toBe(id);
  desk.write(
    'code',
    changed([], { 'dashboard.jsx': 'import "nothing";\nexport default () => 1;' }),
  );
  const refused = await desk.svc('dashboards push code --dry-run');
  expect([refused.status, refused.err]).toEqual([1, expect.stringContaining('dashboard.jsx:1:8')]);
  const code = {
    'dashboard.jsx': 'export default () => 1;',
    'transform.js': 'export default () => 2;',
  };
  desk.write('code', changed([], code));
  expect(await svc('dashboards push code --dry-run')).toContain('nothing was written');
  expect(await svc('dashboards push code')).toContain('is pushed');
  expect(JSON.parse(readFileSync(noteFile, 'utf8'))).not.toEqual(note);
  expect(await svc('dashboards push code')).toContain('is pushed');
  const params = { dashboardId: id };
  await control.send(api.pushDashboardCode, { params, body: { files: [], force: true } });
  const moved = await desk.svc('dashboards push code');
  expect([moved.status, moved.err]).toEqual([1, expect.stringContaining('push with --force')]);
  expect(await svc('dashboards push code --force')).toContain('is pushed');
  const none = await desk.svc(`dashboards test-transform ${id}`);
  expect([none.status, none.out]).toEqual([1, expect.stringContaining('no session')]);
});

it('svc task-sets creates a task set, and svc dashboards renders its dashboard to an address and to a file', async () => {
  const body = { world: 'notes', spec: { instruction: 'Do it.' } };
  const task = (await control.send(api.createTask, { body })).body.id;
  const set = /tset-\w+/.exec(await svc(`task-sets create both --task ${task}`))?.[0] ?? '';
  expect(await svc('task-sets ls')).toMatch(new RegExp(`${set} +both +1`));
  expect(await svc(`task-sets get ${set}`)).toContain(task);
  const made = JSON.parse(await svc(`dashboards create tasks --task-set ${set} --json`));
  const words = `dashboards render ${made.id} --task ${task} --html out.html`;
  expect(await svc(words)).toMatch(/^http.*\/api\/dashboards\/page\?/);
  expect(readFileSync(join(desk.folder, 'out.html'), 'utf8')).toContain('dashboard-data');
});
