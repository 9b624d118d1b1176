import { describe, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import { type SmallWorld, smallWorld, toTree } from '#test/support/worlds/small-world.ts';
import { compileTree } from '../compile/compile.ts';
import { addEntity } from './add-entity.ts';
import { initTree } from './init.ts';
import { removeEntity, removeEntityWithUses } from './remove-entity.ts';
import { replaceFiles, textAt, textFile } from './tree-text.ts';

const treeWith = (change: (world: SmallWorld) => void = () => undefined) => {
  const world = smallWorld();
  change(world);
  return toTree(world);
};

const refused = (name: string, files = treeWith()) => {
  const result = removeEntity(files, name);
  return result.ok ? [] : result.problems;
};

const withLabels = (): ReturnType<typeof treeWith> => {
  const result = addEntity(treeWith(), { name: 'labels' });
  return result.ok ? replaceFiles(treeWith(), result.files) : [];
};

describe('removeEntity', () => {
  it('restores the file as it was before the entity was added', () => {
    const before = textAt(treeWith(), 'schema/world.json');
    const result = removeEntity(withLabels(), 'labels');
    expect(result).toMatchObject({
      ok: true,
      files: [textFile('schema/world.json', before)],
      changes: [
        {
          file: 'schema/world.json',
          pointer: '/x-svc/entities/labels',
          kind: 'removed',
          before: { primary_key: ['id'] },
        },
      ],
      notes: [],
    });
  });

  it('names everything that refers to the entity, with its place', () => {
    const problems = refused('cards');
    expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['entity_in_use']));
    const lines = problems.map(({ file, pointer, message }) => `${file}${pointer} ${message}`);
    expect(lines).toEqual([
      'connector.toml/operations/0/entity the entity "cards" is used by the operation "get_card" in connector.toml',
      'connector.toml/operations/1/entity the entity "cards" is used by the operation "search_cards" in connector.toml',
      'connector.toml/operations/2/entity the entity "cards" is used by the operation "add_card" in connector.toml',
      'connector.toml/operations/3/entity the entity "cards" is used by the operation "close_card" in connector.toml',
      'connector.toml/operations/4/entity the entity "cards" is used by the operation "remove_card" in connector.toml',
      'connector.toml/operations/7/ingest/explode/0/entity the entity "cards" is used by the ingest rules of the operation "list_lists" in connector.toml',
      'data/cards.json the entity "cards" is used by its rows in data/cards.json',
      'scenarios/finish/scenario.toml/grader/checks/0/entity the entity "cards" is used by a check of the task "finish" in scenarios/finish/scenario.toml',
      'scenarios/finish/seed/cards.json the entity "cards" is used by rows of the task "finish" in scenarios/finish/seed/cards.json',
      'schema/world.json/x-svc/tools/list_cards the entity "cards" is used by the conventional tool "list_cards" in schema/world.json',
      'svc-env.toml/dependencies/crm/entities/cards.title the entity "cards" is used by the link to the world "crm" in svc-env.toml',
      'verifiers/all_done.sql the entity "cards" is used by a verifier in verifiers/all_done.sql',
    ]);
  });

  it('reports the lines of references as they are in the unedited files', () => {
    const files = treeWith();
    for (const { file, line, pointer } of refused('lists', files)) {
      if (file.startsWith('data/')) continue;
      const shown = textAt(files, file).split('\n')[(line ?? 0) - 1];
      expect(`${pointer}: ${shown}`).toMatch(/lists/);
    }
  });

  it('refuses while relationships or verifier queries refer to the entity', () => {
    const files = treeWith((world) => {
      world.text['verifiers/all_done.sql'] = 'select count(*) = 0 as passed from lists';
    });
    const places = refused('lists', files).map(({ file, pointer }) => file + pointer);
    expect(places).toContain('schema/world.json/x-svc/entities/cards/relationships/0/target');
    expect(places).toContain('verifiers/all_done.sql');
  });

  it('refuses while webhooks refer to the entity', () => {
    const [problem] = refused('hooks').filter(({ pointer }) => pointer.startsWith('/webhooks'));
    expect(problem?.message).toBe(
      'the entity "hooks" is used by the table [webhooks] in connector.toml',
    );
  });

  it('suggests the closest entity for an unknown one', () => {
    expect(refused('card')).toMatchObject([
      { code: 'unknown_entity', hint: 'did you mean "cards"?' },
    ]);
    expect(refused('__proto__')).toMatchObject([{ code: 'unknown_entity' }]);
  });

  it('refuses to remove the last entity', () => {
    const files = initTree({ name: 'Starter' })
      .filter(({ path }) => path !== 'data/notes.json')
      .map((file) =>
        file.path === 'schema/world.json'
          ? textFile(
              file.path,
              textAt([file], file.path).replace(/"tools": [\s\S]*/, '"tools": {}}}'),
            )
          : file,
      );
    expect(refused('notes', files)).toMatchObject([
      { code: 'bad_value', message: expect.stringContaining('must not be empty') },
    ]);
  });

  it('removes an entity that only code mentions, and warns of it', () => {
    const files = replaceFiles(withLabels(), [
      textFile(
        'api/labelling.py',
        'ASKED = "labels"\ndef labels(ctx):\n    return ctx.query(ASKED)\n',
      ),
    ]);
    const result = removeEntity(files, 'labels');
    expect(result).toMatchObject({
      ok: true,
      notes: [
        '"labels" is written in api/labelling.py; uses of the name there are checked only where a call of the store has it as a literal',
      ],
    });
    if (result.ok) expect(compileTree(replaceFiles(files, result.files)).ok).toBe(true);
  });

  it('refuses to remove an entity that code passes to the store', () => {
    const files = replaceFiles(withLabels(), [
      textFile('api/labelling.py', 'def labels(ctx):\n    return ctx.query("labels")\n'),
    ]);
    expect(refused('labels', files)).toMatchObject([
      {
        ...{ file: 'api/labelling.py', line: 2, column: 22, code: 'entity_in_use' },
        message: 'the entity "labels" is used by code in api/labelling.py',
      },
    ]);
  });

  it('refuses a tree in which a file cannot be read', () => {
    const files = replaceFiles(withLabels(), [textFile('connector.toml', 'x = ')]);
    expect(refused('labels', files)).toMatchObject([{ file: 'connector.toml', code: 'syntax' }]);
  });
});

describe('removeEntityWithUses', () => {
  const starter = initTree({ name: 'Billing', api: true });

  /** Returns the tree after the entity is removed, and the notes. */
  const removed = (name: string, files = starter) => {
    const result = removeEntityWithUses(files, name);
    if (!result.ok) throw new Error(JSON.stringify(result.problems, null, 2));
    const gone = new Set(result.removed);
    const tree = replaceFiles(files, result.files).filter(({ path }) => !gone.has(path));
    return { tree, ...result };
  };

  /** Removes the code, as an author does with the files that the notes name. */
  const withoutCode = (tree: readonly TreeFile[]) =>
    tree.filter(({ path }) => !/\.(?:py|ts)$/.test(path));

  it('removes rows, routes, tools and tasks too, and names the code that still mentions them', () => {
    const { tree, notes, removed: paths } = removed('invoices');
    expect(compileTree(tree)).toMatchObject({
      ok: false,
      problems: [{ file: 'api/handlers.ts', code: 'unknown_entity' }],
    });
    const compiled = compileTree(withoutCode(tree));
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems, null, 2));
    const { api, entities, tasks, tools } = compiled.contract;
    expect(api?.routes.map(({ operation }) => operation)).toEqual(['list_customers']);
    expect(entities.map(({ name }) => name)).toEqual(['customers', 'webhook_endpoints']);
    expect([...tasks, ...tools]).toEqual([]);
    expect(paths).toEqual([
      'data/invoices.json',
      'scenarios/record-payment/instruction.md',
      'scenarios/record-payment/scenario.toml',
    ]);
    expect(notes).toContain('removed with the entity: the route pay_invoice');
    expect(notes).toContain(
      'api/handlers.ts still mentions "invoices": change it, or delete the file',
    );
  });

  it('removes the relationship from an entity that referred to it', () => {
    const { tree, notes } = removed('customers');
    expect(compileTree(tree)).toMatchObject({
      ok: true,
      contract: { entities: [{ name: 'invoices', relationships: [] }, {}] },
    });
    expect(notes).toContain('removed with the entity: a relationship of invoices');
  });

  it('removes the webhooks with their subscriptions', () => {
    const { tree } = removed('webhook_endpoints');
    expect(compileTree(tree)).toMatchObject({ ok: true, contract: { webhooks: null } });
  });

  it("removes all entities of the starter, so that only the author's entities are left", () => {
    const added = addEntity(starter, { name: 'projects' });
    if (!added.ok) throw new Error('projects cannot be added');
    const own = replaceFiles(starter, added.files);
    const left = ['invoices', 'customers', 'webhook_endpoints'].reduce(
      (files, name) => removed(name, files).tree,
      own,
    );
    expect(compileTree(withoutCode(left))).toMatchObject({
      ok: true,
      contract: { entities: [{ name: 'projects' }], api: { routes: [] } },
    });
  });

  it('removes a grading query with its task', () => {
    const files = [
      ...starter,
      textFile('verifiers/all_paid.sql', 'select count(*) = 0 as passed from invoices'),
    ].map((file) =>
      file.path === 'svc-env.toml'
        ? textFile(
            file.path,
            `${textAt([file], file.path)}\n[[tasks]]\nname = "all"\nverifier = "all_paid"\n`,
          )
        : file,
    );
    expect(compileTree(files)).toMatchObject({ ok: true });
    const { tree, removed: paths } = removed('invoices', files);
    expect(paths).toContain('verifiers/all_paid.sql');
    expect(textAt(tree, 'svc-env.toml')).not.toContain('[[tasks]]');
  });

  it('refuses, naming the reference, if only the author can change it', () => {
    const result = removeEntityWithUses(treeWith(), 'cards');
    const messages = result.ok ? [] : result.problems.map(({ message }) => message);
    expect(messages).toEqual([
      'the entity "cards" is used by the ingest rules of the operation "list_lists" in connector.toml',
      'the entity "cards" is used by the link to the world "crm" in svc-env.toml',
    ]);
  });

  it('refuses a tree that has problems', () => {
    const files = replaceFiles(starter, [textFile('data/customers.json', '[{}]')]);
    expect(removeEntityWithUses(files, 'invoices')).toMatchObject({
      ok: false,
      problems: [{ pointer: '/0/email' }, { pointer: '/0/id' }, { pointer: '/0/name' }],
    });
  });
});
