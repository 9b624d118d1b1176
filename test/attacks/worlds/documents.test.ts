/**
 * OpenAPI documents from outside that name files and addresses outside their folder. A world that is drafted from such
 * a document is pushed to the service. The draft must therefore contain no other file of this machine, and nothing may
 * be fetched over the network.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTree } from '#runtime/tree.ts';
import { runSvc } from '../../support/cli/svc.ts';

const secret = 'canary-of-this-machine';
const home = mkdtempSync(join(tmpdir(), 'svc-documents-'));
const folder = join(home, 'documents');
const asked: string[] = [];
let server: Server;
let address: string;

const rowSchema = { type: 'object', properties: { [secret]: { type: 'string' } } };
const outside = join(home, 'outside.json');

beforeAll(async () => {
  mkdirSync(join(folder, '.hidden'), { recursive: true });
  for (const path of [outside, join(folder, '.hidden/kept.json')]) {
    writeFileSync(path, JSON.stringify({ schema: rowSchema, rows: [{ id: 1, name: secret }] }));
  }
  writeFileSync(
    join(folder, 'inside.json'),
    JSON.stringify({ schema: { type: 'object', properties: { inside: { type: 'string' } } } }),
  );
  symlinkSync(outside, join(folder, 'leads-out.json'));
  symlinkSync(home, join(folder, 'linked'));
  server = createServer((request, response) => {
    asked.push(String(request.url));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ schema: rowSchema, rows: [{ id: 1, name: secret }] }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await new Promise((done) => server.close(done));
  rmSync(home, { recursive: true, force: true });
});

/**
 * Document whose rows have a field that is described by a reference, and an example that lies in
 * another file.
 */
const documentOf = (reference: string): string =>
  JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Odd', version: '1' },
    servers: [{ url: 'https://api.odd.example' }],
    paths: {
      '/rows': {
        get: {
          operationId: 'rows',
          responses: {
            200: {
              description: 'ok',
              content: {
                'application/json': {
                  schema: {
                    type: 'array',
                    items: {
                      type: 'object',
                      required: ['id'],
                      properties: {
                        id: { type: 'integer' },
                        name: { type: 'string' },
                        other: { $ref: `${reference}#/schema` },
                      },
                    },
                  },
                  examples: {
                    referred: { value: { $ref: `${reference}#/rows` } },
                    elsewhere: { externalValue: reference },
                  },
                },
              },
            },
          },
        },
      },
    },
  });

const draft = async (name: string, reference: string) => {
  const source = join(folder, `${name}.json`);
  writeFileSync(source, documentOf(reference));
  const to = join(home, `of-${name}`);
  const ended = await runSvc(['worlds', 'connector', 'draft', source, to, '--json']);
  const tree = existsSync(to) ? readTree(to) : [];
  return {
    ...ended,
    written: tree.map(({ content }) => Buffer.from(content).toString()).join('\n'),
  };
};

describe('a draft of a document from outside', () => {
  it.each([
    ['absolute', () => outside],
    ['above', () => '../outside.json'],
    ['link', () => 'leads-out.json'],
    ['linked', () => 'linked/outside.json'],
    ['hidden', () => '.hidden/kept.json'],
    ['file-address', () => `file://${outside}`],
    ['web', () => `${address}/outside.json`],
    ['data', () => `data:application/json,${encodeURIComponent('{"schema":{"type":"object"}}')}`],
  ])(
    'contains nothing of the file or address that a reference names, and reports the reference: %s',
    async (name, reference) => {
      const { status, out, err, written } = await draft(name, reference());
      expect([status, err]).toEqual([0, '']);
      expect(written).not.toContain(secret);
      expect(out).not.toContain(secret);
      const { marks } = JSON.parse(out) as { marks: { place: string; message: string }[] };
      expect(marks.map(({ message }) => message).join('\n')).toMatch(
        /leads out of the folder|is hidden|is a URL/,
      );
      expect(asked).toEqual([]);
    },
  );

  it('still contains the files of the document’s own folder', async () => {
    const { status, written } = await draft('own', './inside.json');
    expect(status).toBe(0);
    expect(written).toContain('"inside"');
  });
});
