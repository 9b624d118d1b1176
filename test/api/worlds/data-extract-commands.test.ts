/** Tests `svc worlds data extract` against a control plane. */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { createWorld, importData } from '#wire/public-api/operations.ts';
import { createDesk, type Desk } from '../../support/cli/commands-on-control.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { changed } from '../../support/control/pushes.ts';
import { peopleBody } from '../../support/worlds/people-world.ts';
import { notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;
let desk: Desk;

const people: Row[] = [
  { id: 1, email: 'ann@example.test', plan: 'pro', note: 'calls "often",\nalways' },
  { id: 2, email: 'bob@example.test', boss: 1, address: { city: 'Bergen', tags: ['a,b'] } },
  { id: 3, email: 'cat@example.test', boss: null },
];

beforeAll(async () => {
  control = await startOwnControl();
  desk = createDesk(control);
  await control.send(createWorld, { body: peopleBody({ slug: 'crm', rows: people }) });
  await control.send(createWorld, {
    body: peopleBody({ slug: 'salted', rows: people, salt: 's' }),
  });
  const many = Array.from({ length: 2_500 }, (_, id) => ({ id, email: `${id}@example.test` }));
  await control.send(createWorld, { body: peopleBody({ slug: 'many', rows: many }) });
});

afterAll(async () => {
  desk.clear();
  await control.stop();
});

const svc = async (words: string): Promise<{ out: string; err: string }> => {
  const { status, out, err } = await desk.svc(words);
  expect(status, err).toBe(0);
  return { out, err };
};
const linesOf = (text: string): Row[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
const read = (path: string): Buffer => readFileSync(join(desk.folder, path));
const digest = (text: string): string =>
  `sha256:${createHash('sha256').update(`s:${text}`).digest('hex')}`;

describe('svc worlds data extract on a world', () => {
  it('prints its rows as JSONL, JSON or CSV, and a summary on standard error', async () => {
    const { out, err } = await svc('worlds data extract crm');
    expect(linesOf(out)).toEqual(people);
    expect(err).toBe('read 3, rows 3, unknown fields 0, nothing redacted\n');
    expect(JSON.parse((await svc('worlds data extract crm --format json')).out)).toEqual(people);
    const found = await svc('worlds data extract crm --where boss=1 --where id=2 --format csv');
    expect(found.out).toBe(
      'id,email,plan,note,boss,address\n2,bob@example.test,,,1,"{""city"":""Bergen"",""tags"":[""a,b""]}"\n',
    );
  });

  it('reads all pages of the named version', async () => {
    const body = { rows: { people: [{ id: 9_999, email: 'new@example.test' }] } };
    await control.send(importData, { params: { slug: 'many' }, body });
    const ids = linesOf((await svc('worlds data extract many@1')).out).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 2_500 }, (_, id) => id));
    expect(linesOf((await svc('worlds data extract many')).out)).toHaveLength(2_501);
  });

  it('writes files from which an import restores the same rows', async () => {
    for (const name of ['people.csv', 'people.json', 'people.jsonl.gz']) {
      await svc(`worlds data extract crm --out ${name}`);
      const checked = await svc(`worlds data import crm ${name} --mode replace --dry-run --json`);
      expect(JSON.parse(checked.out)).toMatchObject({ landed: { people: 3 }, refused: 0 });
    }
    expect(linesOf(gunzipSync(read('people.jsonl.gz')).toString())).toEqual(people);
    await svc('worlds data extract crm --out rows/ --format csv');
    expect(read('rows/people.csv').toString()).toBe(read('people.csv').toString());
    expect(readdirSync(desk.folder).filter((name) => name.startsWith('.svc'))).toEqual([]);
  });

  it('redacts by the policy of the world, except with --no-redact', async () => {
    const { out, err } = await svc('worlds data extract salted --entity people');
    expect(linesOf(out)[0]).toEqual({ id: 1, email: digest('ann@example.test'), plan: 'pro' });
    expect(err).toBe(
      'read 3, rows 3, unknown fields 0, redacted: 1 dropped, 3 hashed, 0 preserved, 0 rounded\n',
    );
    const clear = await svc('worlds data extract salted --no-redact --json');
    expect(linesOf(clear.out)).toEqual(people);
    expect(JSON.parse(clear.err)).toMatchObject({ read: 3, rows: 3, redacted: { hashed: 0 } });
  });
});

describe('svc worlds data extract on files', () => {
  it('leaves out fields that the entity does not have, and redacts the others', async () => {
    const export1 = 'id,email,note,plan,Internal id\n4,dan@example.test,secret,pro,77\n';
    desk.write('.', changed([], { 'export.csv': export1 }));
    const { out, err } = await svc('worlds data extract salted export.csv --entity people');
    expect(linesOf(out)).toEqual([{ id: 4, email: digest('dan@example.test'), plan: 'pro' }]);
    expect(err).toBe(
      'read 1, rows 1, unknown fields 1 (Internal id), redacted: 1 dropped, 1 hashed, 0 preserved, 0 rounded\n',
    );
  });

  it('leaves no output file behind if a row cannot be read', async () => {
    desk.write('.', changed([], { 'broken.jsonl': '{"id": 5, "email": "e"}\n{"id": 6,\n' }));
    const { status, err } = await desk.svc(
      'worlds data extract crm broken.jsonl --entity people --out left.jsonl',
    );
    expect([status, err]).toEqual([1, expect.stringContaining('broken.jsonl:2')]);
    expect(existsSync(join(desk.folder, 'left.jsonl'))).toBe(false);
    expect(readdirSync(desk.folder).filter((name) => name.startsWith('.svc'))).toEqual([]);
  });

  it('reports that a folder has no captures', async () => {
    desk.write('uncaptured', notesWorld());
    const { status, out, err } = await desk.svc('worlds data extract ./uncaptured');
    expect([status, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^error: .\/uncaptured has no captures to extract rows from\nhint: .*svc worlds connector capture/,
    );
  });

  it('merges all captures of a key into one row', async () => {
    const { from } = peopleBody({ slug: 'crm', rows: [], salt: 's' });
    const capture = (body: unknown) =>
      JSON.stringify({ operation: 'list_people', arguments: {}, status: 200, body });
    const files = {
      '1.json': capture([{ id: 1, email: 'old@example.test', seen: 5 }]),
      '2.json': capture([{ id: 1, email: digest('new@example.test') }]),
    };
    for (const { path, content } of from) {
      desk.write('captured', changed([], { [path]: Buffer.from(content, 'base64').toString() }));
    }
    desk.write('captured/captures/list_people', changed([], files));
    const { out, err } = await svc('worlds data extract ./captured');
    expect(linesOf(out)).toEqual([{ id: 1, email: digest('new@example.test') }]);
    expect(err).toContain('read 2, rows 1, unknown fields 1 (seen)');
  });

  it('refuses conflicting options, unknown entities and missing files', async () => {
    const refusal = async (words: string) => (await desk.svc(words)).err;
    expect(await refusal('worlds data extract crm export.csv --where id=1')).toContain('--where');
    expect(await refusal('worlds data extract crm --entity persons')).toContain(
      'the world has the entities people',
    );
    expect(await refusal('worlds data extract ./nowhere')).toContain('nowhere');
    expect(await refusal('worlds data extract crm --out people.csv/people.csv')).toContain(
      'cannot write',
    );
  });
});
