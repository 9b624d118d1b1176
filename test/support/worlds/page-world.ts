/**
 * A tiny world with a page, for tests in a real browser. The page lists notes by the world's API at its own origin,
 * adds one, and receives events; it writes the results into itself for a test to read.
 */
import type { TreeFile } from '#domain/world.ts';
import { apiTree, operation } from './api-world.ts';
import { textFile } from './small-world.ts';

const handlers = `
def events(ctx):
    body = "".join(f"event: note\\ndata: {row['title']}\\n\\n" for row in ctx.query("notes"))
    ctx.respond(200, "retry: 60000\\n\\n" + body, {"content-type": "text/event-stream"})
`;

const connector = [
  operation('GET', '/notes', 'action = "read"', { name: 'list_notes' }),
  operation(
    'POST',
    '/notes',
    'action = "create"\nbody = { title = "title" }\ngenerate = { id = "int" }',
    { name: 'add_note' },
  ),
  operation('GET', '/events', 'action = "handler"\nhandler = "events"', {
    name: 'events',
    entity: '',
  }),
].join('\n');

const page = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Notes</title><link rel="icon" href="data:,">
<ul id="notes"></ul><form><label>Title <input name="title"></label><button>Add</button></form>
<output id="heard"></output>
<script type="module" src="/app.js"></script></html>
`;

const script = `const api = '/__world-api';
const list = document.querySelector('#notes');
const show = async () => {
  const answer = await fetch(api + '/notes');
  const { notes } = await answer.json();
  list.replaceChildren(...notes.map(({ title }) => Object.assign(document.createElement('li'), { textContent: title })));
  list.dataset.count = String(notes.length);
};
document.querySelector('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const title = new FormData(event.target).get('title');
  await fetch(api + '/notes', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ title }) });
  await show();
});
const events = new EventSource(api + '/events');
events.addEventListener('note', ({ data }) => document.querySelector('#heard').append(data + ';'));
await show();
`;

/** Builds the tree; its page is in `web`. */
export const pageWorld = (): TreeFile[] =>
  apiTree({
    api: 'envelope = "notes"',
    operations: `${connector}\n[ui]\nstatic = "web"\ngenerated = false\n`,
    notes: [
      { id: 1, title: 'First' },
      { id: 2, title: 'Second' },
    ],
    files: { 'api/handlers.py': handlers, 'web/index.html': page, 'web/app.js': script },
  }).concat(textFile('web/deep/page.txt', 'deep'));
