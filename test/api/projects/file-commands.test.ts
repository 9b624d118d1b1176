/** Tests `svc files` against a control plane: files are uploaded, listed, downloaded, moved, deleted and synced. */
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDesk, type Desk } from '../../support/cli/commands-on-control.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { changed } from '../../support/control/pushes.ts';

let control: OwnControl;
let desk: Desk;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-test-files-'));
  control = await startNotesControl({ files: { folder, endpoints: [] } });
  desk = createDesk(control);
});
afterAll(async () => {
  desk.clear();
  await control.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command and returns its output; fails the test if the command fails. */
const svc = async (words: string): Promise<string> => {
  const { status, out, err } = await desk.svc(words);
  expect(status, err).toBe(0);
  return out;
};

const write = (files: Record<string, string>): void => desk.write('.', changed([], files));
const read = (path: string): string => readFileSync(join(desk.folder, path), 'utf8');

it('svc files uploads a folder, then only changed files, and downloads it the same way', async () => {
  write({ 'in/a.csv': 'a,b', 'in/deep/b.txt': 'b', 'in/deep/c.json': '{}' });
  symlinkSync('/etc/hostname', join(desk.folder, 'in/link'));
  expect(JSON.parse(await svc('files put in reports --json'))).toEqual({ sent: 3, left: 1 });
  const list = await svc('files ls reports');
  expect(list).toMatch(/deep\/ +2 files +folder/);
  expect(list).toMatch(/a\.csv +3 B +text\/csv/);
  write({ 'in/a.csv': 'a,c' });
  const refused = await desk.svc('files put in reports');
  expect([refused.status, refused.err]).toEqual([1, expect.stringContaining('reports/a.csv')]);
  const again = JSON.parse(await svc('files put in reports --overwrite --json'));
  expect(again).toEqual({ sent: 1, unchanged: 2, left: 1 });
  expect(JSON.parse(await svc('files get reports out --json'))).toEqual({ written: 3 });
  expect([read('out/a.csv'), read('out/deep/b.txt')]).toEqual(['a,c', 'b']);
  writeFileSync(join(desk.folder, 'out/deep/b.txt'), 'other');
  expect(await svc('files get reports out')).toMatch(/1 file written|2 files unchanged/);
  expect(read('out/deep/b.txt')).toBe('b');
});

it('svc files uploads and downloads one file, also to standard output', async () => {
  write({ 'note.txt': 'grüße' });
  await svc('files put note.txt');
  await svc('files put note.txt notes/ --type text/x-note');
  expect(await svc('files get notes/note.txt -')).toBe('grüße');
  await svc('files get note.txt copy.txt');
  expect(read('copy.txt')).toBe('grüße');
  const { files } = JSON.parse(await svc('files ls notes --json'));
  expect(files).toMatchObject([{ path: 'notes/note.txt', contentType: 'text/x-note' }]);
  const none = await desk.svc('files get none.txt');
  expect([none.status, none.err]).toEqual([1, expect.stringContaining('no file at "none.txt"')]);
  const lost = await desk.svc('files put not-there.txt');
  expect(lost.err).toContain('not-there.txt');
});

it('svc files creates folders, moves and deletes, and deletes a folder only with --recursive', async () => {
  write({ 'x.txt': 'x' });
  expect(await svc('files mkdir one/two')).toBe('one/two/\n');
  await svc('files put x.txt one/two/');
  expect(await svc('files mv one/two other')).toBe('1 file moved\n');
  const refused = await desk.svc('files rm other');
  expect([refused.status, refused.err]).toEqual([1, expect.stringContaining('--recursive')]);
  expect(await svc('files rm other/x.txt')).toBe('1 file deleted\n');
  expect(await svc('files rm other -r')).toBe('0 files deleted\n');
});

it('svc files creates a connector, syncs it by name, and prints the result', async () => {
  await svc('files put in backup');
  await svc(
    'files connectors create backup --kind folder --folder b --target backup --direction push',
  );
  expect(await svc('files connectors list')).toMatch(/backup +push +backup\/ +\S+\/b +never/);
  expect(await svc('files sync backup')).toMatch(/^complete: 3 files \(6 B\) copied, 0 unchanged/);
  const { location, id } = JSON.parse(await svc('files connectors list --json')).data[0];
  expect(existsSync(join(location, 'deep/b.txt'))).toBe(true);
  expect(JSON.parse(await svc(`files sync ${id} --json`))).toMatchObject({
    ...{ files: 0, status: 'complete', capture: { unchanged: 3 } },
  });
  await svc('files connectors agents backup off');
  expect((await desk.svc('files sync backup')).err).toContain('agentAccess');
  await svc('files connectors delete backup');
  expect((await desk.svc('files sync backup')).err).toContain('no file connector "backup"');
  await svc('files connectors create away --kind folder --folder none');
  const away = await desk.svc('files sync away');
  expect([away.status, away.out]).toEqual([1, expect.stringContaining('there is no such folder')]);
  const keyless = await desk.svc('files connectors create k --kind bucket --bucket abc');
  expect(keyless.err).toContain('AWS_ACCESS_KEY_ID');
});
