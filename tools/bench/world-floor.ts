/**
 * The floor of the code hosts: the smallest program on `node:http` and `node:sqlite` that gives the same answers. Its
 * issues are prepared answers of the world host. A list orders them and counts them for its `Link`, a search looks
 * for its word in their texts, a comment is one more row. It checks nothing, knows neither credentials, contract nor
 * users, and records nothing.
 *
 *   node tools/bench/world-floor.ts <file of answers> <port>
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { DatabaseSync } from 'node:sqlite';

type Issue = Record<string, string | number> & { title: string; body: string };
type Answers = { issues: Issue[]; comment: Record<string, unknown> };

const answers = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Answers;

const db = new DatabaseSync(':memory:');
db.exec(`CREATE TABLE issues (number INTEGER PRIMARY KEY, state TEXT, title TEXT, body TEXT, created_at TEXT,
    updated_at TEXT, comments INTEGER, answer TEXT);
  CREATE INDEX by_state ON issues (state, created_at);
  CREATE INDEX by_time ON issues (created_at);
  CREATE TABLE comments (id INTEGER PRIMARY KEY, issue INTEGER, answer TEXT)`);
const insertIssue = db.prepare('INSERT INTO issues VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
for (const issue of answers.issues) {
  const { number, state, title, body, created_at, updated_at, comments } = issue;
  const values = [number, state, title, body, created_at, updated_at, comments];
  insertIssue.run(...values.map((value) => value ?? null), JSON.stringify(issue));
}

const one = db.prepare('SELECT answer FROM issues WHERE number = ?');
const found = db.prepare('SELECT answer FROM issues WHERE title LIKE ? OR body LIKE ?');
const insertComment = db.prepare('INSERT INTO comments VALUES (?, ?, ?)');
const statements = new Map<string, ReturnType<typeof db.prepare>>();

const prepare = (sql: string) => {
  const statement = statements.get(sql) ?? db.prepare(sql);
  statements.set(sql, statement);
  return statement;
};

const joined = (rows: Record<string, unknown>[]): string =>
  `[${rows.map(({ answer }) => answer).join(',')}]`;

const send = (response: ServerResponse, status: number, body: string, more = {}): void => {
  const length = Buffer.byteLength(body);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...more })
    .end(body);
};

const orders: Record<string, string> = {
  created: 'created_at',
  updated: 'updated_at',
  comments: 'comments',
};

const list = (response: ServerResponse, query: URLSearchParams): void => {
  const [state, size] = [query.get('state') ?? 'open', Number(query.get('per_page') ?? 30)];
  const page = Number(query.get('page') ?? 1);
  const direction = query.get('direction') === 'asc' ? 'ASC' : 'DESC';
  const order = `${orders[query.get('sort') ?? 'created']} ${direction}`;
  const [where, values] = state === 'all' ? ['', []] : ['WHERE state = ?', [state]];
  const total = Number(prepare(`SELECT count(*) AS n FROM issues ${where}`).get(...values)?.n);
  const sql = `SELECT answer FROM issues ${where} ORDER BY ${order} LIMIT ? OFFSET ?`;
  const rows = prepare(sql).all(...values, size, (page - 1) * size);
  const last = Math.ceil(total / size);
  send(response, 200, joined(rows), {
    link: `</?page=${page + 1}>; rel="next", </?page=${last}>; rel="last"`,
  });
};

const search = (response: ServerResponse, query: URLSearchParams): void => {
  const word = `%${query.get('q')?.split(' ')[0]}%`;
  const rows = found.all(word, word);
  const items = joined(rows.slice(0, 30));
  send(response, 200, `{"total_count":${rows.length},"incomplete_results":false,"items":${items}}`);
};

let lastId = 10_000_000;

const comment = (request: IncomingMessage, response: ServerResponse, issue: number): void => {
  let text = '';
  request.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  request.on('end', () => {
    lastId += 1;
    const answer = JSON.stringify({ ...answers.comment, id: lastId, body: JSON.parse(text).body });
    insertComment.run(lastId, issue, answer);
    send(response, 201, answer);
  });
};

const server = createServer((request, response) => {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const parts = path.split('/');
  if (request.method === 'POST') return comment(request, response, Number(parts[5]));
  if (path.startsWith('/search/')) return search(response, new URLSearchParams(query));
  if (parts[5] === undefined) return list(response, new URLSearchParams(query));
  send(response, 200, String(one.get(Number(parts[5]))?.answer));
});

server.listen(Number(process.argv[3]), '127.0.0.1');
