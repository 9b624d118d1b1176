/**
 * The floor of the host benchmark: the smallest program on `node:http` and `node:sqlite` that serves the notes with
 * the same four routes, from a table with a column for each field. It checks nothing, knows neither credentials,
 * contract nor foreign keys, and records nothing.
 *
 *   node tools/bench/host-floor.ts <file of notes> <port>
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

type Note = Record<string, SQLInputValue>;

const fields = ['id', 'list_id', 'title', 'state', 'author', 'priority', 'created_at'];

const db = new DatabaseSync(':memory:');
db.exec(`CREATE TABLE notes (
  id TEXT PRIMARY KEY, list_id INTEGER, title TEXT, state TEXT, author TEXT, priority INTEGER,
  created_at TEXT)`);
const insert = db.prepare(`INSERT INTO notes VALUES (${fields.map(() => '?').join(', ')})`);
const select = db.prepare('SELECT * FROM notes WHERE id = ?');
const change = db.prepare('UPDATE notes SET title = ? WHERE id = ? RETURNING *');
const list = db.prepare('SELECT * FROM notes LIMIT ?');

const insertNote = (note: Note): void => {
  insert.run(...fields.map((field) => note[field] ?? null));
};

for (const note of JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Note[]) {
  insertNote(note);
}

const send = (response: ServerResponse, status: number, value: unknown): void => {
  const body = JSON.stringify(value);
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    })
    .end(body);
};

const readBody = (request: IncomingMessage, use: (body: Note) => void): void => {
  let text = '';
  request.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  request.on('end', () => use(JSON.parse(text) as Note));
};

const create = (request: IncomingMessage, response: ServerResponse): void =>
  readBody(request, (body) => {
    const note: Note = { id: randomUUID(), ...body };
    insertNote(note);
    send(response, 201, note);
  });

const patch = (request: IncomingMessage, response: ServerResponse, id: string): void =>
  readBody(request, ({ title = null }) => send(response, 200, change.get(title, id)));

const server = createServer((request, response) => {
  const { method, url = '' } = request;
  if (method === 'POST') return create(request, response);
  const query = url.indexOf('?');
  if (query !== -1) {
    const limit = new URLSearchParams(url.slice(query)).get('limit');
    return send(response, 200, list.all(Number(limit)));
  }
  const id = url.slice('/notes/'.length);
  if (method === 'PATCH') return patch(request, response, id);
  const note = select.get(id);
  send(response, note === undefined ? 404 : 200, note ?? {});
});

server.listen(Number(process.argv[3]), '127.0.0.1');
