/**
 * The proof of an installation, run in its cluster by `helm test`: it makes a world of the template
 * code-hosting, opens a session, calls a tool, does the task through the gateway as a client of the vendor
 * would, grades it and closes it. It uses only Node, so it proves what any client sees. If the installation is
 * too busy, it retries for two minutes and then reports that.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const { CONTROL, GATEWAY, PUBLIC_KEY, SECRET_KEY } = process.env;
/** The first of several key pairs, separated by spaces, is the current one. */
const [publicKey, secretKey] = [PUBLIC_KEY, SECRET_KEY].map((keys) => keys.trim().split(/\s+/)[0]);
const authorization = `Basic ${Buffer.from(`${publicKey}:${secretKey}`).toString('base64')}`;
const slug = 'helm-test';
const issue = '/repos/northquay/berth/issues/157';

const busyForMs = 120_000;
const until = Date.now() + busyForMs;

/** Sends a request to the public API and returns the body. Retries have the same idempotency key. */
const ask = async (method, path, body) => {
  const headers = {
    authorization,
    ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
    ...(body && { 'content-type': 'application/json' }),
  };
  for (;;) {
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${CONTROL}/api/public${path}`, sent);
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    const answer = `${method} ${path}: ${response.status} ${text}`;
    if (![429, 503, 504].includes(response.status)) throw new Error(answer);
    const waitMs = 1_000 * Number(response.headers.get('retry-after') ?? 2);
    if (Date.now() + waitMs > until) {
      throw new Error(
        `the installation is too busy or lacks a part; nothing is wrong with the world: ${answer}`,
      );
    }
    await pause(waitMs);
  }
};

/** Reads a resource until `isDone`, by long polls. */
const follow = async (first, path, isDone) => {
  let thing = first;
  for (let asked = 0; !isDone(thing); asked += 1) {
    assert(asked < 30, `${path} does not end: ${JSON.stringify(thing)}`);
    thing = await ask('GET', `${path}?wait=10`);
  }
  return thing;
};

const call = async (id, body) => {
  const isOver = ({ state }) => state !== 'queued' && state !== 'running';
  const asked = await ask('POST', `/world-sessions/${id}/calls?wait=10`, body);
  const record = await follow(asked, `/world-sessions/${id}/calls/${asked.id}`, isOver);
  assert.equal(record.state, 'succeeded', JSON.stringify(record));
  return record.output;
};

/** Sends a request to the session's API, at the gateway under the session's own host. */
const act = ({ url, token }, method, path, body) =>
  new Promise((resolve, reject) => {
    const headers = { host: new URL(url).host, authorization: `Bearer ${token}` };
    const sent = request(`${GATEWAY}${path}`, { method, headers }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      if ((response.statusCode ?? 500) < 300) resolve(JSON.parse(text));
      else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });

const say = (text) => console.log(`ok  ${text}`);

await ask('POST', '/worlds', { slug, from: 'code-hosting' }).catch((error) => {
  if (!/: 409 /.test(error.message)) throw error; // of an earlier test
});
say(`world ${slug}`);
const opened = await ask('POST', '/world-sessions?wait=10', { slug, task: 'close-duplicate' });
const isSettled = ({ state }) => state !== 'PROVISIONING';
const session = await follow(opened, `/world-sessions/${opened.id}`, isSettled);
const why = 'no session became ready; the doctor (svc admin doctor) tells which part is short';
assert.equal(session.state, 'READY', `${why}: ${JSON.stringify(session)}`);
const api = { ...session.surfaces.api, ...(opened.surfaces.api ?? {}) };
say(`session ${session.id} at ${api.url}`);

const input = { owner: 'northquay', repo: 'berth', number: 157 };
const [alike] = await call(session.id, { kind: 'tool', name: 'find_duplicates', input });
assert.equal(alike.number, 139);
say('a tool was called');
await act(api, 'POST', `${issue}/labels`, { labels: ['duplicate'] });
await act(api, 'POST', `${issue}/comments`, { body: 'Duplicate of #139' });
await act(api, 'PATCH', issue, { state: 'closed', state_reason: 'not_planned' });
say('the task was done through the gateway');
const verdict = await call(session.id, { kind: 'grade' });
assert.equal(verdict.passed, true, JSON.stringify(verdict));
say('it was graded as passed');
const closing = await ask('DELETE', `/world-sessions/${session.id}?wait=10`);
const isClosed = ({ state }) => state === 'CLOSED' || state === 'FAILED';
const closed = await follow(closing, `/world-sessions/${session.id}`, isClosed);
assert.equal(closed.state, 'CLOSED', JSON.stringify(closed));
say('the session is closed');
