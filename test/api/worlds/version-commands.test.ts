/** Tests `svc worlds push` and the other commands for versions, against a control plane. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

const tree = notesWorld();

describe('svc worlds push', () => {
  it('pushes a folder that the world was created from, and sends only new files', async () => {
    desk.write('notes', tree);
    await svc('worlds create notes --from ./notes');
    desk.write('notes', changed([], { 'README.md': 'hello\n' }));
    const out = await svc('worlds push notes ./notes -m documented');
    expect(out).toMatch(/version +2 \(ver-/);
    expect(out).toMatch(/changes +files: 1 added\n/);
    expect(out).toMatch(/sent +1 file, 6 bytes/);
    const versions = await svc('worlds versions notes');
    expect(versions.split('\n')[1]).toMatch(/^2 +ver-\S+ +push .*files: 1 added .*documented/);
    expect(versions.split('\n')[2]).toMatch(/^1 +ver-\S+ +create .*\d+ files, 2 rows/);
    expect(await svc('worlds push notes ./notes')).toBe(
      'nothing changed: version 2 of notes equals this tree\n',
    );
    const json = JSON.parse(await svc('worlds push notes ./notes --json'));
    expect(json).toMatchObject({ changed: false, number: 2 });
  });

  it('excludes build output, hidden files and what .svcignore names', async () => {
    desk.write('ignoring', tree);
    await svc('worlds create ignoring --from ./ignoring');
    desk.write(
      'ignoring',
      changed([], {
        '.svcignore': '*.tmp\nscratch/\n!kept.tmp\n',
        'a.tmp': '',
        'kept.tmp': '',
        'scratch/b.md': '',
        'dist/c.md': '',
        'notes/__pycache__/d.md': '',
        '.hidden': '',
      }),
    );
    const pushed = JSON.parse(await svc('worlds push ignoring ./ignoring --json'));
    expect(pushed.changes.files).toEqual({ added: 1, changed: 0, removed: 0 });
    expect(pushed.files.map(({ path }: { path: string }) => path)).toContain('kept.tmp');
  });

  it('is refused from a folder based on an older version, and explains how to continue', async () => {
    desk.write('mine', tree);
    desk.write('theirs', tree);
    await svc('worlds create shared --from ./mine');
    await svc('worlds push shared ./theirs');
    desk.write('theirs', changed([], { 'theirs.md': '' }));
    await svc('worlds push shared ./theirs');
    desk.write('mine', changed([], { 'mine.md': '' }));
    const refused = await desk.svc('worlds push shared ./mine');
    expect(refused.status).toBe(1);
    expect(refused.err).toContain('the head of "shared" is now version 2');
    expect(refused.err).toContain('svc worlds diff shared@2 ./mine');
    expect(await svc('worlds push shared ./mine --base 2')).toMatch(/version +3 /);
  });

  it('is refused when the recorded base is damaged or belongs to another service, until --base is given', async () => {
    const note = join(desk.folder, 'notes', '.svc-base.json');
    for (const text of ['{"notes":"ver-00000000000000000000000000"}', '{', '[]', '{"notes":1}']) {
      writeFileSync(note, text);
      const refused = await desk.svc('worlds push notes ./notes');
      expect(refused.status).toBe(1);
      expect(refused.err).toMatch(
        /ver-0{26}, which is not a version of "notes" on this service|is damaged/,
      );
      expect(refused.err).toContain('--base 2 replaces the head anyway');
    }
    expect(await svc('worlds push notes ./notes --base 2')).toContain('nothing changed: version 2');
    expect(JSON.parse(readFileSync(note, 'utf8')).notes).toMatch(/^ver-/);
  });

  it('uses the head when the folder has no recorded base, and records it by slug even for a world id', async () => {
    const note = join(desk.folder, 'notes', '.svc-base.json');
    rmSync(note);
    const { id } = JSON.parse(await svc('worlds describe notes --json'));
    expect(await svc(`worlds push ${id} ./notes`)).toContain('nothing changed: version 2');
    expect(Object.keys(JSON.parse(readFileSync(note, 'utf8')))).toEqual(['notes']);
    await svc(`worlds pull ${id} ./notes`);
    expect(Object.keys(JSON.parse(readFileSync(note, 'utf8')))).toEqual(['notes']);
  });

  it('keeps rows that did not come from a tree, and drops them with --data replace', async () => {
    const row = '{"notes":[{"id":9,"folder_id":1,"title":"given","done":true}]}';
    writeFileSync(join(desk.folder, 'given.json'), row);
    desk.write('rows', tree);
    await svc('worlds create rows --from ./rows --rows given.json');
    desk.write('rows', changed([], { 'a.md': 'a' }));
    expect(await svc('worlds push rows ./rows --data keep')).toMatch(/kept +1 row/);
    const replaced = JSON.parse(await svc('worlds push rows ./rows --data replace --json'));
    expect(replaced).toMatchObject({ keptRows: 0, entityCounts: { notes: 1 } });
    const { status, err } = await desk.svc('worlds push rows ./rows --data else');
    expect([status, err]).toEqual([1, expect.stringContaining('keep, replace')]);
  });

  it('shows the problems of an invalid tree and fails', async () => {
    desk.write('broken', changed(tree, { 'svc-env.toml': '[schema]\n' }));
    const { status, err } = await desk.svc('worlds push notes ./broken');
    expect(status).toBe(1);
    expect(err).toContain('svc-env.toml');
  });
});

describe('svc worlds pull', () => {
  it('writes rows to a folder that a push does not send', async () => {
    desk.write('bare', tree);
    desk.write(
      '.',
      changed([], { 'notes.json': '[{"id": 2, "folder_id": 1, "title": "given", "done": true}]' }),
    );
    await svc('worlds create withrows --from ./bare --rows notes.json');
    const out = await svc('worlds pull withrows ./withrows --data');
    expect(out).toContain('  wrote   outputs/data/notes.jsonl\n');
    const rows = readFileSync(join(desk.folder, 'withrows/outputs/data/notes.jsonl'), 'utf8');
    expect(
      rows
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { id: 1, folder_id: 1, title: 'first', done: false },
      { id: 2, folder_id: 1, title: 'given', done: true },
    ]);
    expect(await svc('worlds push withrows ./withrows')).toMatch(/^nothing changed/);
    const json = JSON.parse(await svc('worlds pull withrows ./withrows --data --json'));
    expect(json).toMatchObject({
      written: [],
      rows: ['outputs/data/folders.jsonl', 'outputs/data/notes.jsonl'],
    });
    const again = await svc(
      'worlds data import withrows ./withrows/outputs/data/notes.jsonl --mode replace --dry-run',
    );
    expect(again).toBe('2 rows would be imported; nothing was written\n');
  });

  const read = (path: string) => readFileSync(join(desk.folder, path), 'utf8');

  it('writes a version into a folder, and pushing that folder changes nothing', async () => {
    desk.write('source', changed(tree, { 'docs/a.md': 'one\n', 'b.md': 'b\n' }));
    await svc('worlds create pulled --from ./source');
    const out = await svc('worlds pull pulled copy');
    expect(out).toContain('  wrote   docs/a.md\n');
    expect(out).toContain('copy contains version 1 of pulled\n');
    expect(read('copy/docs/a.md')).toBe('one\n');
    expect(await svc('worlds pull pulled copy')).toBe(
      'copy contains version 1 of pulled already\n',
    );
    expect(await svc('worlds push pulled copy')).toContain('nothing changed');
  });

  it('moves a folder from one version to another and keeps files that are in no version', async () => {
    desk.write('copy', changed([], { 'docs/a.md': 'two\n', 'c.md': 'c\n' }));
    rmSync(join(desk.folder, 'copy/b.md'));
    await svc('worlds push pulled copy');
    desk.write('copy', changed([], { 'own.md': 'own\n' }));
    const back = JSON.parse(await svc('worlds pull pulled@1 copy --json'));
    expect(back).toMatchObject({ number: 1, removed: ['c.md'] });
    expect(back.written).toEqual(expect.arrayContaining(['b.md', 'docs/a.md']));
    expect(read('copy/docs/a.md')).toBe('one\n');
    expect(read('copy/own.md')).toBe('own\n');
  });

  it('neither overwrites nor removes locally changed files without --force', async () => {
    desk.write('copy', changed([], { 'docs/a.md': 'mine\n', 'c.md': 'mine, too\n' }));
    const refused = await desk.svc('worlds pull pulled copy');
    expect(refused.status).toBe(1);
    expect(refused.err).toContain('nothing was written:\n  c.md\n  docs/a.md');
    expect(refused.err).toContain('--force');
    expect(read('copy/docs/a.md')).toBe('mine\n');
    expect(read('copy/b.md')).toBe('b\n');
    await svc('worlds pull pulled copy --force');
    expect(read('copy/docs/a.md')).toBe('two\n');
    expect(read('copy/c.md')).toBe('c\n');
    expect(() => read('copy/b.md')).toThrow('ENOENT');
  });

  it('refuses, even with --force, to remove an unknown folder in place of a file', async () => {
    rmSync(join(desk.folder, 'copy/c.md'));
    desk.write('copy', changed([], { 'c.md/own.md': 'own\n' }));
    const { status, err } = await desk.svc('worlds pull pulled copy --force');
    expect(status).toBe(1);
    expect(err).toContain('"c.md/own.md" in it belongs to no version');
  });

  it('replaces a folder by a file, and a file by a folder', async () => {
    desk.write('turned', changed(tree, { 'docs/a.md': 'one\n', plain: 'plain\n' }));
    await svc('worlds create turned --from ./turned');
    await svc('worlds pull turned there');
    for (const path of ['docs', 'plain']) {
      rmSync(join(desk.folder, 'turned', path), { recursive: true });
    }
    desk.write('turned', changed([], { docs: 'now a file\n', 'plain/b.md': 'b\n' }));
    await svc('worlds push turned ./turned');
    await svc('worlds pull turned there');
    expect([read('there/docs'), read('there/plain/b.md')]).toEqual(['now a file\n', 'b\n']);
    await svc('worlds pull turned@1 there');
    expect([read('there/docs/a.md'), read('there/plain')]).toEqual(['one\n', 'plain\n']);
  });
});

describe('svc worlds pin', () => {
  it('adds a label to a version and removes it', async () => {
    expect(await svc('worlds pin pulled@1 stable')).toBe('pulled@stable now names version 1\n');
    expect(await svc('worlds versions pulled')).toMatch(/^1 .* stable$/m);
    expect(await svc('worlds describe pulled@stable')).toMatch(/version +1 /);
    expect(JSON.parse(await svc('worlds pin pulled@stable old --json'))).toMatchObject({
      number: 1,
    });
    await svc('worlds pin pulled stable --remove');
    const { status, err } = await desk.svc('worlds pull pulled@stable');
    expect(status).toBe(1);
    expect(err).toContain('has no version "stable"');
  });
});

describe('svc worlds diff', () => {
  const world = (text: string) => changed(tree, { 'schema/world.json': text });
  const text = new TextDecoder().decode(tree[0]?.content);

  it('shows the files, entities, rows and lines that a version changed', async () => {
    desk.write('diffed', world(text));
    await svc('worlds create diffed --from ./diffed');
    const wider = text.replace('"done": {', '"note": { "type": "string" },\n "done": {');
    desk.write('diffed', changed([], { 'schema/world.json': wider, 'data/notes.json': '[]' }));
    desk.write('diffed', changed([], { 'tools.md': 'a\n' }));
    await svc('worlds push diffed ./diffed');
    const out = await svc('worlds diff diffed');
    expect(out).toMatch(/^diffed@1 to diffed@2\nfiles\n {2}\+ tools\.md\n/);
    expect(out).toContain('entities\n  ~ notes\n      + note\n');
    expect(out).toContain('rows\n  notes 1 to 0\n');
    expect(out).toContain('+        "note": { "type": "string" },');
    for (const words of ['diffed@2 diffed@1', 'diffed --version 2 diffed@1']) {
      expect(await svc(`worlds diff ${words}`)).toBe(await svc('worlds diff diffed@2 @1'));
    }
    const json = JSON.parse(await svc('worlds diff diffed@2 @1 --json'));
    expect(json).toMatchObject({
      from: 'diffed@2',
      to: 'diffed@1',
      files: { added: [], removed: ['tools.md'] },
      entities: { changed: [{ name: 'notes', keys: false, fields: { removed: ['note'] } }] },
      rows: { notes: { before: 0, after: 1 } },
      diffs: { 'tools.md': expect.stringContaining('-a') },
    });
  });

  it('compares a version with a folder, ignoring rows that did not come from trees', async () => {
    writeFileSync(
      join(desk.folder, 'more.json'),
      '{"notes":[{"id":9,"folder_id":1,"title":"x","done":true}]}',
    );
    desk.write('compared', tree);
    await svc('worlds create compared --from ./compared --rows more.json');
    expect(await svc('worlds diff compared ./compared')).toBe(
      'compared@1 and ./compared are equal\n',
    );
    desk.write(
      'compared',
      changed([], { 'tools.py': 'def count_slowly(milliseconds, note_id):\n    return 0\n' }),
    );
    const out = await svc('worlds diff compared ./compared');
    expect(out).toContain('  ~ tools.py\n');
    expect(out).toContain('+    return 0');
  });

  it('explains what it cannot compare', async () => {
    for (const [words, result] of [
      ['diffed@1', 'diffed@1 was not made from another version'],
      ['diffed@1 mine', 'to name the folder here, write ./mine'],
      ['diffed @9', 'has no version "9"'],
    ]) {
      const { status, err } = await desk.svc(`worlds diff ${words}`);
      expect(status).toBe(1);
      expect(err).toContain(result);
    }
  });
});
