/** Tests `svc context`, `svc prompts` and `svc media` against a control plane. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

/** Runs a command and returns its output; fails the test if the command fails. */
const svc = async (words: string): Promise<string> => {
  const { status, out, err } = await desk.svc(words);
  expect(status, `${words}: ${err}`).toBe(0);
  return out;
};

const write = (files: Record<string, string>): void => desk.write('.', changed([], files));

it('svc context pushes content in versions, and pulls it unchanged', async () => {
  write({ 'search.md': '# Search\n\nLook in the issues.\n', 'memory.json': '{"seen": [1, 2]}' });
  await svc('context push skills folder/search @search.md --label production --tag team -m first');
  expect(await svc('context push skills folder/search shorter --base 1')).toContain('version 2');
  const late = await desk.svc('context push skills folder/search late --base 1');
  expect([late.status, late.err]).toEqual([1, expect.stringContaining('2')]);
  expect(await svc('context pull skills folder/search')).toBe('shorter');
  expect(await svc('context pull skills folder/search --at 1')).toBe(
    '# Search\n\nLook in the issues.\n',
  );
  expect(await svc('context pull skills folder/search --label production')).toContain('Look in');
  expect(await svc('context show skills folder/search --at 1')).toMatch(
    /skills +folder\/search\nversion +1 of 2\nlabels +production\ntags +team\nmessage +first/,
  );
  await svc('context push memory notes @memory.json --config {"ttl":1}');
  expect(JSON.parse(await svc('context pull memory notes'))).toEqual({ seen: [1, 2] });
  expect(await svc('context list skills --tag team')).toMatch(/folder\/search +2 +.*production 1/);
  expect(await svc('context list skills --tag none')).toContain('none of this kind');
  expect(await svc('context exists memory notes')).toContain('version 1');
  expect(await svc('context delete memory notes')).toContain('1 version');
  expect((await desk.svc('context exists memory notes')).status).toBe(1);
  expect((await desk.svc('context list recipes')).err).toContain('Allowed choices are');
});

it('svc prompts creates prompts in versions, moves their labels, and deletes them', async () => {
  write({ 'chat.json': '[{"role": "system", "content": "Be kind to {{name}}"}]' });
  await svc('prompts create greeting one --label production');
  await svc('prompts create greeting two --tag t -m shorter');
  await svc('prompts create talk @chat.json --chat --config {"temperature":0}');
  expect(await svc('prompts show greeting')).toMatch(/version +1\ntype +text\n[\s\S]*\none\n$/);
  await svc('prompts label greeting 2 production');
  expect(await svc('prompts show greeting')).toMatch(/version +2\n[\s\S]*message +shorter\n/);
  const talk = await desk.svc('prompts show talk --label latest --json');
  expect(JSON.parse(talk.out)).toMatchObject({ type: 'chat', config: { temperature: 0 } });
  expect(await svc('prompts list --limit 1')).toMatch(/talk +chat +1[\s\S]*--page 2/);
  expect(await svc('context pull prompts greeting')).toBe('two');
  expect((await desk.svc('prompts delete greeting')).err).toContain('--all');
  await svc('prompts delete greeting --at 2');
  expect((await desk.svc('prompts show greeting --at 2')).status).toBe(1);
  await svc('prompts delete greeting --all');
  expect(await svc('prompts list --name greeting')).toContain('no prompts');
});

it('svc media uploads a file once, prints its reference, and downloads it', async () => {
  write({ 'shot.png': 'not quite a picture' });
  const sent = JSON.parse(await svc('media put shot.png --trace t1 --field output --json'));
  expect(sent).toMatchObject({ sent: true });
  const reference = await svc('media put shot.png --trace t2');
  expect(reference).toBe(`@@@langfuseMedia:type=image/png|id=${sent.mediaId}|source=file@@@\n`);
  expect(await svc(`media show ${sent.mediaId}`)).toMatch(/type +image\/png\nsize +19 B/);
  await svc(`media get ${sent.mediaId} copy.png`);
  expect(readFileSync(join(desk.folder, 'copy.png'), 'utf8')).toBe('not quite a picture');
  expect((await desk.svc('media put shot.png')).err).toContain('--trace');
  expect((await desk.svc('media show none')).status).toBe(1);
});
