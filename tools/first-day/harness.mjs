// Plays a task in 20 sessions at once, grades and closes them: node harness.mjs <build> <how many it solves>
const { SVC_URL, SVC_PUBLIC_KEY, SVC_SECRET_KEY } = process.env;
const [buildHash, solves] = process.argv.slice(2);
const keys = `Basic ${btoa(`${SVC_PUBLIC_KEY}:${SVC_SECRET_KEY}`)}`;

const ask = async (url, authorization, method, body) => {
  const headers = { authorization, 'content-type': 'application/json' };
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (answer.ok) return answer.json();
  throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
};
const svc = (method, path, body) => ask(`${SVC_URL}/api/public${path}`, keys, method, body);

// The agent: it finds the loan by the title of the book, or mistakes the first loan for it.
const play = async ({ url, token }, isCareful) => {
  const api = (method, path) => ask(`${url}${path}`, `Bearer ${token}`, method);
  const books = await api('GET', '/books?title=The%20Sea');
  const query = isCareful ? `?member_id=1&book_id=${books.data[0].id}` : '';
  const loans = await api('GET', `/loans${query}`);
  await api('POST', `/loans/${loans.data[0].id}/return`);
};

const rollout = async (_, number) => {
  const run = { id: `run-${buildHash}`, buildHash, planned: 20 };
  const opened = { slug: 'library', task: 'return-a-book', run };
  const session = await svc('POST', '/world-sessions?wait=55', opened);
  await play(session.surfaces.api, number < Number(solves));
  await svc('POST', `/world-sessions/${session.id}/calls?wait=55`, { kind: 'grade' });
  return svc('DELETE', `/world-sessions/${session.id}?wait=55`, { keepWarm: true });
};

await Promise.all(Array.from({ length: 20 }, rollout));
