/**
 * Tests links between worlds: resolved when a version is created, checked against the linked world, listed, and pinned
 * to a version.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import {
  archiveWorld,
  createWorld,
  deleteWorld,
  enqueueCall,
  getWorld,
  openSession,
  setLabel,
} from '#wire/public-api/operations.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { changed, push } from '../../support/control/pushes.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;
let neighbour: Neighbour;

const textOf = (tree: readonly TreeFile[], path: string): string =>
  new TextDecoder().decode(tree.find((file) => file.path === path)?.content);

const plain = notesWorld();

/** Returns the files of the world `notes` with these lines at the end of its manifest. */
const linking = (lines: string, more: Record<string, string> = {}): TreeFile[] =>
  changed(plain, {
    'svc-env.toml': `${textOf(plain, 'svc-env.toml')}\n${lines}\n`,
    ...more,
  });

const create = (slug: string, tree: readonly TreeFile[]) =>
  control.send(createWorld, { body: { slug, from: encodeTree([...tree]) } });

const read = async (slug: string) => (await control.read(getWorld, { params: { slug } })).body;

let count = 0;
/** Creates a world with a unique slug, and returns the slug. */
const make = async (lines = ''): Promise<string> => {
  count += 1;
  const slug = `linked-${count}`;
  await create(slug, linking(lines));
  return slug;
};

/** Returns the fields at fault when a world with these lines is refused. */
const refusalOf = async (lines: string, more?: Record<string, string>) => {
  const refused = await create(`refused-${count}`, linking(lines, more)).catch(
    (error: unknown) => error,
  );
  const { code, fields } = refused as {
    code: string;
    fields: { path: string[]; message: string }[];
  };
  expect(code).toBe('invalid');
  return fields.map(({ path, message }) => [path.slice(1).join('.'), message]);
};

beforeAll(async () => {
  control = await startOwnControl();
  neighbour = await addNeighbour(control);
  await create('crm', plain);
});

afterAll(() => control.stop());
afterEach(() => clearPool(control));

describe('a link between worlds', () => {
  it('is listed with its version, tools and fields', async () => {
    const slug = await make(
      '[dependencies.crm]\npin = "crm@1"\ntask = "finish"\ntools = ["list_notes"]\n[dependencies.crm.entities]\n"notes.title" = "folders.name"',
    );
    const { body: crm } = await control.read(getWorld, { params: { slug: 'crm' } });
    expect((await read(slug)).dependencies).toEqual([
      {
        alias: 'crm',
        slug: 'crm',
        ref: '1',
        version: '1',
        versionId: crm.version.id,
        task: 'finish',
        tools: ['list_notes'],
        entities: { 'notes.title': 'folders.name' },
      },
    ]);
  });

  it('stays at the version that its reference named when the version with the link was created', async () => {
    const other = await make();
    await control.send(setLabel, {
      params: { slug: other, label: 'stable' },
      body: { version: '1' },
    });
    const slug = await make(`[dependencies]\nhead = "${other}@latest"\nfixed = "${other}@stable"`);
    await push(control.send, other, linking('# another version'));
    await control.send(setLabel, {
      params: { slug: other, label: 'stable' },
      body: { version: '2' },
    });
    const versions = async () => (await read(slug)).dependencies.map(({ version }) => version);
    expect(await versions()).toEqual(['1', '1']);
    const again = await push(
      control.send,
      slug,
      linking(`[dependencies]\nhead = "${other}@latest"\nfixed = "${other}@stable"`),
    );
    expect(again).toMatchObject({ status: 201, changed: true, number: 2 });
    expect(await versions()).toEqual(['2', '2']);
    const same = await push(
      control.send,
      slug,
      linking(`[dependencies]\nhead = "${other}@latest"\nfixed = "${other}@stable"`),
    );
    expect(same).toMatchObject({ status: 200, changed: false });
  });

  it('offers all tools of the linked world unless it names some, also in sessions', async () => {
    const slug = await make('[dependencies]\ncrm = "crm@latest"');
    const names = ['list_notes', 'create_notes', 'count_slowly'];
    const linked = names.map((name) => `crm.${name}`);
    expect((await read(slug)).dependencies).toMatchObject([{ tools: names }]);
    const host = await warmHost(control);
    const { body: session } = await control.send(openSession, { body: { slug } });
    expect(session.tools.map(({ name }) => name)).toEqual([...names, ...linked]);
    const [own, , , other] = session.tools;
    expect(other).toEqual({ ...own, name: 'crm.list_notes' });
    await host.poll();
    expect(host.assignment?.links).toMatchObject([
      { alias: 'crm', worldSlug: 'crm', task: null, tools: names },
    ]);
    await host.ready();
    const call = (name: string) =>
      control.send(enqueueCall, {
        params: { sessionId: session.id },
        body: { kind: 'tool', name },
      });
    expect((await call('crm.list_notes')).status).toBe(202);
    await expect(call('crm.list_folders')).rejects.toMatchObject({ code: 'invalid' });
  });

  it('starts the linked world with the seed of its task, and a task of the session can select tools of the link', async () => {
    const slug = await make('[dependencies.crm]\npin = "crm@1"\ntask = "finish"');
    const host = await warmHost(control);
    const open = (task: { tools: string[] }) => control.send(openSession, { body: { slug, task } });
    await expect(open({ tools: ['crm.list_folders'] })).rejects.toMatchObject({
      message: expect.stringContaining('the world has no tool "crm.list_folders"'),
    });
    const { body: session } = await open({ tools: ['crm.list_notes', 'create_notes'] });
    expect(session.tools.map(({ name }) => name)).toEqual(['create_notes', 'crm.list_notes']);
    await host.poll();
    expect(host.assignment?.links?.[0]?.task).toMatchObject({ name: 'finish' });
  });
});

describe('a link between worlds is refused if it', () => {
  it('names missing worlds, versions, tasks, tools or fields, and all of them are reported at once', async () => {
    const fields = await refusalOf(
      '[dependencies.crm]\npin = "crm@1"\ntask = "begin"\ntools = ["list_note"]\n[dependencies.crm.entities]\n"notes.title" = "folders.label"\n"notes.id" = "people.id"\n[dependencies.no]\npin = "nothing@1"\n[dependencies.old]\npin = "crm@99"',
    );
    const says = (text: string) => expect.stringContaining(text);
    expect(fields).toEqual([
      ['dependencies.crm.task', says('version 1 of "crm" has no task "begin"')],
      ['dependencies.crm.tools.0', says('version 1 of "crm" has no tool "list_note"')],
      ['dependencies.crm.entities.notes.title', says('has no field "label"')],
      ['dependencies.crm.entities.notes.id', says('has no entity "people"')],
      ['dependencies.no.pin', says('there is no world "nothing"')],
      ['dependencies.old.pin', says('has no version "99"')],
    ]);
  });

  it('names a world of another project', async () => {
    const from = encodeTree(plain);
    const made = await neighbour.ask('POST', '/worlds', { slug: 'theirs', from });
    expect(made.status).toBe(201);
    expect(await refusalOf('[dependencies]\ntheirs = "theirs@1"')).toEqual([
      ['dependencies.theirs.pin', expect.stringContaining('there is no world "theirs"')],
    ]);
  });

  it('names an archived world', async () => {
    const other = await make();
    await control.send(archiveWorld, { params: { slug: other }, body: { archived: true } });
    expect(await refusalOf(`[dependencies]\nold = "${other}@1"`)).toEqual([
      ['dependencies.old.pin', expect.stringContaining('is archived')],
    ]);
  });

  it('leads back to its world, directly or through other links', async () => {
    expect(await refusalOf(`[dependencies]\nme = "refused-${count}@1"`)).toEqual([
      ['dependencies.me', expect.stringContaining('leads back to its own world')],
    ]);
    const first = await make();
    const second = await make(`[dependencies]\none = "${first}@1"`);
    const third = await make(`[dependencies]\ntwo = "${second}@1"`);
    for (const [ref, way] of [
      [first, ''],
      [second, '"one"'],
      [third, '"two" → "one"'],
    ]) {
      const pushed = push(control.send, first, linking(`[dependencies]\nback = "${ref}@1"`));
      await expect(pushed).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringContaining(`would be linked to itself by "${ref}@1"`),
        fields: [{ message: expect.stringContaining(way ?? '') }],
      });
    }
    expect((await read(first)).head.number).toBe(1);
  });

  it('leads back through many paths, and each world is searched once', async () => {
    let below = 'crm';
    for (let depth = 0; depth < 7; depth += 1) {
      const target = below;
      const aliases = Array.from({ length: 16 }, (_, index) => `way${index} = "${target}@1"`);
      below = await make(`[dependencies]\n${aliases.join('\n')}`);
    }
    const pushed = push(control.send, 'crm', linking(`[dependencies]\nback = "${below}@1"`));
    await expect(pushed).rejects.toMatchObject({
      fields: [{ message: expect.stringContaining('"way0" → "way0"') }],
    });
  });

  it('does not offer a tool that a task selects', async () => {
    const scenario = `tools = ["crm.create_notes"]\n${textOf(plain, 'scenarios/finish/scenario.toml')}`;
    const files = { 'scenarios/finish/scenario.toml': scenario };
    const lines = (tool: string) => `[dependencies.crm]\npin = "crm@1"\ntools = ["${tool}"]`;
    const refused = create('refused', linking(lines('list_notes'), files));
    await expect(refused).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('crm.create_notes'),
    });
    count += 1;
    await create(`linked-${count}`, linking(lines('create_notes'), files));
  });
});

describe('a world that other worlds link to', () => {
  it('cannot be deleted before those worlds', async () => {
    const other = await make();
    const slug = await make(`[dependencies]\nother = "${other}@1"`);
    const remove = (name: string) => control.send(deleteWorld, { params: { slug: name } });
    await expect(remove(other)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`is linked to by ${slug}@1`),
    });
    await remove(slug);
    await remove(other);
  });
});
