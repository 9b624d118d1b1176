import { zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { contractOf, smallWorld, textFile, toTree } from '#test/support/worlds/small-world.ts';
import type { Contract, JsonSchema } from '../contract.ts';
import { decodeBundle, encodeBundle, hostedContract, selectUserCode } from './bundle.ts';

describe('bundle', () => {
  const files = [
    textFile('tools.ts', 'export {};'),
    textFile('api/words.txt', '\uFEFFfjord, \u0000 and 🚀\r\n'),
    { path: 'api/data.bin', content: new Uint8Array([0, 255, 10]) },
  ];

  it('is decoded to the value that was encoded', () => {
    const contract = hostedContract(contractOf());
    const bundle = decodeBundle(encodeBundle({ contract, files }));
    expect(bundle.contract).toEqual(contract);
    expect(bundle.files).toEqual([...files].sort((one, other) => (one.path < other.path ? -1 : 1)));
  });

  it("lacks schemas of handlers' answers, the vendor's operations, and definitions to which nothing else refers", () => {
    const contract = hostedContract(contractOf());
    const { api } = contract;
    const [route, ...routes] = api?.routes ?? [];
    if (api === null || route === undefined) throw new Error('the world has routes');
    const refer = (name: string) => ({ $ref: `#/$defs/${name}` });
    const definitions = {
      ...contract.definitions,
      Sent: { type: 'object', properties: { parts: { type: 'array', items: refer('Part') } } },
      Part: { anyOf: [refer('Sent'), { type: 'null' }] },
      Answer: { allOf: [refer('Sent'), refer('Other')] },
      Other: true as unknown as JsonSchema,
    };
    const vendor = {
      baseUrl: 'https://vendor.example',
      operations: [{ name: 'list' }],
    } as unknown as Contract['vendor'];
    const answering = { ...route, request: refer('Sent'), response: refer('Answer') };
    const full = {
      ...contract,
      definitions,
      vendor,
      api: { ...api, routes: [answering, ...routes] },
    };
    const { response: _, ...kept } = answering;
    const { Answer: __, Other: ___, ...reached } = definitions;
    const bundle = encodeBundle({ contract: full, files });
    expect(decodeBundle(bundle).contract).toEqual({
      ...contract,
      definitions: reached,
      vendor: { ...vendor, operations: [] },
      api: { ...api, routes: [kept, ...routes] },
    });
    expect(encodeBundle(decodeBundle(bundle))).toEqual(bundle);
    expect(full.api.routes[0]).toHaveProperty('response');
  });

  it('is decoded from a blob of the earlier format', () => {
    const contract = contractOf();
    const stored = files.map(({ path, content }) => ({
      path,
      content: Buffer.from(content).toString('base64'),
    }));
    const blob = zstdCompressSync(Buffer.from(JSON.stringify({ contract, files: stored })));
    expect(decodeBundle(blob)).toEqual({ contract, files });
  });

  it('has the same bytes whatever the order of the files', () => {
    const contract = contractOf();
    const there = encodeBundle({ contract, files });
    expect(encodeBundle({ contract, files: files.toReversed() })).toEqual(there);
  });

  it('keeps the order of the fields of rows', () => {
    const contract = contractOf((world) => {
      const [row] = world.json['scenarios/finish/seed/cards.json'];
      world.json['scenarios/finish/seed/cards.json'] = [
        Object.fromEntries(Object.entries(row).reverse()),
      ];
    });
    const { tasks } = decodeBundle(encodeBundle({ contract, files })).contract;
    expect(Object.keys(tasks[0]?.seed.rows.cards?.[0] ?? {})[0]).toBe('created_at');
  });

  it('is not decoded from other bytes', () => {
    expect(() => decodeBundle(new TextEncoder().encode('no bundle'))).toThrow();
  });

  it('contains only what a host runs', () => {
    const tree = [
      ...toTree(smallWorld()),
      ...[
        'words.py',
        'tools.test.ts',
        'test_tools.py',
        'tests/t.py',
        'api/inner/a.py',
        'docs/x.ts',
        'api/build/x.py',
        'api/dist/inner/x.py',
        'api/outputs/x.py',
        'api/.hidden/x.py',
        'api/builds/kept.py',
      ].map((path) => textFile(path, '')),
    ];
    expect(selectUserCode(contractOf(), tree).map(({ path }) => path)).toEqual([
      'api/builds/kept.py',
      'api/handlers.py',
      'api/inner/a.py',
      'tools.py',
      'tools.ts',
      'words.py',
    ]);
  });

  it('contains the folder of the handlers module, wherever it is', () => {
    const contract = contractOf((world) => {
      world.text['connector.toml'] =
        world.text['connector.toml']?.replace('[api]', '[api]\nhandlers = "server/routes.py"') ??
        '';
      world.text['server/routes.py'] = world.text['api/handlers.py'] ?? '';
    });
    const tree = ['server/routes.py', 'server/more.py', 'other/x.py'].map((p) => textFile(p, ''));
    expect(selectUserCode(contract, tree).map(({ path }) => path)).toEqual([
      'server/more.py',
      'server/routes.py',
    ]);
  });
});
