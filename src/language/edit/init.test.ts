import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { smallWorld, toTree } from '#test/support/worlds/small-world.ts';
import { compileTree } from '../compile/compile.ts';
import { initTree } from './init.ts';
import { textAt, textFile } from './tree-text.ts';

const compiled = (files: ReturnType<typeof initTree>) => {
  const result = compileTree(files);
  if (!result.ok) throw new Error(JSON.stringify(result.problems, null, 2));
  return result;
};

describe('initTree without a template', () => {
  it('writes a world that compiles, with rows and tools that need no code', () => {
    const { contract, baseRows } = compiled(initTree({ name: 'My world' }));
    expect(contract).toMatchObject({ name: 'My world', package: { id: 'my-world' } });
    expect(contract.tools.map(({ binding }) => binding)).toEqual([
      { kind: 'convention', verb: 'list', entity: 'notes' },
      { kind: 'convention', verb: 'create', entity: 'notes' },
      { kind: 'convention', verb: 'update', entity: 'notes' },
    ]);
    expect(baseRows.notes).toHaveLength(2);
  });

  it('declares its connector as custom', () => {
    const manifest = textAt(initTree({ name: 'My world' }), 'svc-env.toml');
    expect(parse(manifest)).toMatchObject({ environment: { connector: 'custom' } });
  });

  it.each(['"quoted" \\ and = [x] #', 'Größe — 世界', '$& $1', '日本', '---', 'x'.repeat(200)])(
    'writes the name %s unchanged',
    (name) => {
      const files = initTree({ name });
      expect(compiled(files).contract.name).toBe(name);
      expect(textAt(files, 'README.md').split('\n')[0]).toBe(`# ${name}`);
    },
  );

  it.each(['', ' ', 'two\nlines', '\ud800', 'x'.repeat(201)])('refuses the name %j', (name) => {
    expect(() => initTree({ name })).toThrow("a world's name is one line of 1 to 200 characters");
  });
});

describe('initTree with an HTTP API', () => {
  const files = initTree({ name: 'Our billing', api: true });

  it('writes two related entities with routes, a webhook, a page, a closed task and a test', () => {
    const { contract, generated } = compiled(files);
    expect(contract).toMatchObject({
      name: 'Our billing',
      package: { id: 'our-billing' },
      webhooks: { subscriptions: 'webhook_endpoints' },
      tasks: [{ name: 'record-payment', grader: { changes: { closed: true } } }],
    });
    const invoices = contract.api?.routes.filter(({ entity }) => entity === 'invoices');
    expect(invoices?.map(({ method, action, page }) => `${method} ${action} ${page}`)).toEqual([
      'GET read cursor',
      'GET read none',
      'POST create none',
      'PATCH update none',
      'DELETE delete none',
      'POST handler none',
    ]);
    expect(generated.map(({ path }) => path)).toContain('ui/index.html');
    expect(files.map(({ path }) => path)).toContain('tests/invoices.test.ts');
  });

  it.each(['"quoted" \\ and = [x] #', '日本', '---', 'x'.repeat(200)])(
    'accepts the name %s',
    (name) => {
      const tree = initTree({ name, api: true });
      expect(compiled(tree).contract.name).toBe(name);
      expect(textAt(tree, 'README.md').split('\n')[0]).toBe(`# ${name}`);
    },
  );

  it('writes its API in 60 lines, not counting blank lines', () => {
    const lines = textAt(files, 'connector.toml').split('\n');
    expect(lines.filter((line) => line.trim() !== '')).toHaveLength(60);
  });
});

describe('initTree with a template', () => {
  const template = toTree(smallWorld());

  it("copies the template's tree under another name", () => {
    const files = initTree({ name: 'Other board', template });
    expect(files.map(({ path }) => path)).toEqual(template.map(({ path }) => path));
    expect(compiled(files).contract.name).toBe('Other board');
  });

  it.each([
    ['[environment]\n# The name.\nname = "Board" # shown to all', '"New"'],
    ["[env]\nkind = 'mock-tools'\nname='''Bo\nard'''", '"New"'],
    ['environment.name = "Board"\nenvironment.kind = "x"', '"New"'],
    ['environment = { name = "Board", kind = "x" }', '"New"'],
  ])('changes nothing of the manifest but the name: %s', (manifest, name) => {
    const text = `# What this is.\r\n${manifest}\n`;
    const [file] = initTree({ name: 'New', template: [textFile('svc-env.toml', text)] });
    const expected = text.replace(/"Board"|'''Bo\nard'''/, name);
    expect(file).toEqual(textFile('svc-env.toml', expected));
  });

  it('leaves out generated files', () => {
    const { generated } = compiled(template);
    const files = initTree({ name: 'Board', template: [...template, ...generated] });
    expect(files.map(({ path }) => path)).toEqual(template.map(({ path }) => path));
  });

  it.each([
    [[], 'the template has no svc-env.toml'],
    [[textFile('svc-env.toml', 'x')], 'svc-env.toml of the template: not valid TOML'],
    [[textFile('svc-env.toml', 'x = 1')], 'svc-env.toml of the template has no [environment] name'],
  ])('refuses a tree that is no world', (files, message) => {
    expect(() => initTree({ name: 'Board', template: files })).toThrow(message);
  });
});
