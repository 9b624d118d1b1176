/**
 * Tests reads that workers answer from cached rows, and prefetched numbers. Each must equal what the store would
 * answer, in values, types and order, whatever was read, written, undone and reset before.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import type { WorldStore } from '#store/world-store.ts';
import {
  accessOf,
  type HeldStep,
  heldRows,
  heldSteps,
  openHeldStore,
} from '#test/support/host/cached-rows-world.ts';
import { type Bench, startBench } from '#test/support/host/user-code.ts';
import { fuzzRuns } from '#test/support/random/fuzz.ts';
import type { StoreAccess, UserLanguage } from '../run.ts';

/**
 * Python program that runs the steps, and makes each read twice: from the cache, and from the host. It returns the
 * reads that differ, and how many needed no request.
 */
const python = `
import ast, json
from svc_env import Refused, clock, count, delete, fail, get, ids, insert, query, update
from svc_env.run import current_run

def made(value):
    if isinstance(value, dict):
        if list(value) == ["$literal"]:
            return ast.literal_eval(value["$literal"])
        return {name: made(member) for name, member in value.items()}
    return [made(item) for item in value] if isinstance(value, list) else value

def attempt(work):
    try:
        rows = work()
    except Refused as refused:
        return json.dumps([refused.kind, refused.detail, refused.field, refused.pointer])
    except (TypeError, ValueError) as error:
        return json.dumps([type(error).__name__, str(error)])
    text = json.dumps(rows)
    spoil(rows)
    return text

def spoil(value):
    for member in list(value.values() if isinstance(value, dict) else value if isinstance(value, list) else []):
        spoil(member)
    if isinstance(value, (dict, list)):
        value.clear()

def both(step, run):
    entity = step["entity"]
    if step["do"] == "get":
        key = made(step["key"])
        return attempt(lambda: get(entity, key)), lambda: run._ask("get", entity=entity, key=key)
    if step["do"] == "count":
        where = made(step["where"])
        return attempt(lambda: count(entity, where)), lambda: run._ask("count", entity=entity, where=where)
    if step["do"] == "next":
        field = step["field"]
        return (attempt(lambda: ids.next(entity, field)),
                lambda: run._ask("next", entity=entity, field=field, within=None))
    where, order = made(step["where"]), step["order"]
    held = attempt(lambda: query(entity, where, step["limit"], step["offset"], order))
    return held, lambda: run._ask("query", entity=entity, where=where, limit=step["limit"],
                                  offset=step["offset"], orderBy=order or [])

def overlapping():
    query("notes")
    update("notes", {"id": 1}, {"text": "b"})
    return [get("notes", {"id": 1})["text"], query("notes", {"text": "b"})[0]["text"]]

def perform(steps, fails):
    run, different = current_run(), []
    for step in steps:
        match step["do"]:
            case "insert":
                attempt(lambda: insert(step["entity"], step["row"]))
            case "update":
                attempt(lambda: update(step["entity"], step["key"], step["patch"]))
            case "remove":
                attempt(lambda: delete(step["entity"], step["key"]))
            case "lose":
                run._row_cache.lose()
            case _:
                held, ask = both(step, run)
                answered = attempt(ask)
                if held != answered:
                    different.append([step, held, answered])
    if fails:
        fail("as wanted", code="wanted", different=different)
    return {"different": different}
`;

const typescript = `
import { count, fail, get, ids, insert, query, Refused, remove, update } from 'svc_env';

const made = (value: any): any => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(made);
  if ('$literal' in value) return (0, eval)('(' + value.$literal + ')');
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, made(member)]));
};

const spoil = (value: any): void => {
  if (typeof value !== 'object' || value === null) return;
  for (const name of Object.keys(value)) {
    spoil(value[name]);
    value[name] = 'spoiled';
  }
};

const attempt = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    const rows = await work();
    const text = JSON.stringify(rows);
    spoil(rows);
    return text;
  } catch (error: any) {
    const { kind, detail, field, pointer, message } = error;
    return JSON.stringify(error instanceof Refused ? [kind, detail, field, pointer] : [message]);
  }
};

/** The same read as a worker answers it, and in words that only the host understands. */
const both = (step: any): [() => Promise<unknown>, () => Promise<unknown>] => {
  const { entity } = step;
  if (step.do === 'get') {
    const key = made(step.key);
    const odd = typeof key === 'object' && key !== null && !Array.isArray(key);
    return [() => get(entity, key), () => get(entity, odd ? { ...key, unheld: 1 } : key)];
  }
  if (step.do === 'count') {
    const where = made(step.where);
    return [() => count(entity, where), async () => (await query(entity, { where, unheld: 1 } as any)).length];
  }
  if (step.do === 'next') return [() => ids.next(entity, step.field), () => ids.next(entity, step.field, {})];
  const { limit, offset, order: orderBy } = step;
  const options = { where: made(step.where), limit, offset, orderBy };
  return [() => query(entity, options), () => query(entity, { ...options, unheld: 1 } as any)];
};

export async function perform({ steps, fails }: any) {
  const different: unknown[] = [];
  for (const step of steps) {
    const { entity, key, row, patch } = step;
    if (step.do === 'insert') await attempt(() => insert(entity, row));
    else if (step.do === 'update') await attempt(() => update(entity, key, patch));
    else if (step.do === 'remove') await attempt(() => remove(entity, key));
    else {
      const [plain, odd] = both(step);
      const [held, answered] = [await attempt(plain), await attempt(odd)];
      if (held !== answered) different.push([step, held, answered]);
    }
  }
  if (fails) fail('as wanted', 'wanted', { different });
  return { different };
}

export async function overlapping() {
  await query('notes');
  const written = update('notes', { id: 1 }, { text: 'b' });
  const seen = await get('notes', { id: 1 });
  await written;
  return [seen!.text, (await get('notes', { id: 1 }))!.text];
}
`;

const pythonLiterals = [
  '1.0',
  'True',
  '"\\ud83d\\ude80"',
  '"\\ud83d"',
  '1152921504606846976',
  '-9007199254740992',
  '1e400',
  '(1, 2)',
  '(True, "a")',
  "b'x'",
  '{1: 2}',
  '{"id": {1}}',
  '{None: 1}',
  '[[1]]',
  '{"a": 1}',
];

const typescriptLiterals = [
  '-0',
  'NaN',
  'undefined',
  '10n',
  '2 ** 53',
  '"\\ud83d"',
  'new Date(0)',
  '[1, , 2]',
  '[undefined]',
  '[[1]]',
  '({ id: undefined })',
  'Object.assign(Object.create({ id: 1 }), { text: "a" })',
  '({ toJSON: () => ({ id: 1 }) })',
  'new (class { id = 1; })()',
  'JSON.parse(\'{"__proto__": 1}\')',
];

/** Reads that differ from the store's answer, and the number of reads that needed no request. */
type Outcome = { different: unknown[]; answered: number };

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
  await bench.load({ 'tools.py': python, 'tools.ts': typescript });
});
afterAll(() => bench.close());

/** Runs one call over the store, as a session does: a transaction, which is undone if the call fails. */
const call = async (
  store: WorldStore,
  language: UserLanguage,
  { steps, fails = false }: { steps: HeldStep[]; fails?: boolean },
  access: StoreAccess = accessOf(store),
): Promise<Outcome> => {
  let asked = 0;
  const counting: StoreAccess = {
    ...access,
    get(entity, key) {
      asked += 1;
      return access.get(entity, key);
    },
    query(entity, given) {
      asked += 1;
      return access.query(entity, given);
    },
    count(entity, where) {
      asked += 1;
      return access.count(entity, where);
    },
  };
  let different: unknown[] | undefined;
  const done = store.atomically(async () => {
    const input = { steps, fails };
    const result = await bench.run(language, 'perform', { input, access: counting });
    const answered = result.ok ? result.value : result.error.details;
    different = (answered as { different: unknown[] }).different;
    if (!result.ok) throw new Error(JSON.stringify(result.error));
  });
  await done.catch((error: unknown) => {
    if (different === undefined) throw error;
  });
  const reads = steps.filter((step) => ['get', 'query', 'count'].includes(step.do)).length;
  return { different: different ?? [], answered: 2 * reads - asked };
};

const literals = { python: pythonLiterals, typescript: typescriptLiterals } as const;

/** Replaces the rows with the same ids, as routes and seeds do. */
const write = (store: WorldStore, rows: Record<string, Row[]>) =>
  store.atomically(() => {
    for (const [entity, list] of Object.entries(rows)) {
      for (const payload of store.query(entity)) store.remove(entity, JSON.parse(payload) as Row);
      for (const row of list) store.insert(entity, row);
    }
  });

const query = (entity: string): HeldStep => ({
  do: 'query',
  entity,
  where: null,
  limit: null,
  offset: 0,
  order: null,
});

describe.each(['python', 'typescript'] as const)('reads from cached rows in %s', (language) => {
  it('return what the store would return, whatever was written, undone and reset', async () => {
    let answered = 0;
    const session = fc.record({
      before: fc.option(heldRows),
      steps: heldSteps(literals[language]),
      fails: fc.boolean(),
      resets: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(session, { minLength: 1, maxLength: 4 }), async (list) => {
        const store = openHeldStore();
        for (const { before, steps, fails, resets } of list) {
          if (before !== null) await write(store, before);
          const outcome = await call(store, language, { steps, fails });
          expect(outcome.different).toEqual([]);
          answered += outcome.answered;
          if (resets) store.rollBackTo('task');
        }
        store.close();
      }),
      fuzzRuns(1_000, 30),
    );
    expect(answered).toBeGreaterThan(100);
  });

  it('are reported to the host, once for each entity of a run', async () => {
    const store = openHeldStore();
    await write(store, { notes: [{ id: 1, text: 'a' }], pairs: [{ left: 'a', right: 1 }] });
    const reads: string[] = [];
    const access = accessOf(store, reads);
    const run = (steps: HeldStep[]) => call(store, language, { steps }, access);
    await run([query('notes'), query('pairs')]);
    reads.length = 0;
    const both = [query('pairs'), query('notes'), query('notes')];
    expect(await run(both)).toEqual({ different: [], answered: 3 });
    await run([query('notes')]);
    expect(reads).toEqual(['notes', 'pairs', 'notes']);
  });

  it('use only the store of the current call', async () => {
    const stores = [openHeldStore(), openHeldStore()];
    for (const [id, store] of stores.entries()) await write(store, { notes: [{ id, text: 'a' }] });
    for (let round = 0; round < 3; round += 1) {
      for (const store of stores) {
        const outcome = await call(store, language, { steps: [query('notes')] });
        expect(outcome.different).toEqual([]);
      }
    }
  });

  it('go to the host if an entity is too large for the cache', async () => {
    const store = openHeldStore();
    const text = 'x'.repeat(1_000);
    await write(store, { notes: Array.from({ length: 2_200 }, (_, id) => ({ id, text })) });
    const get: HeldStep = { do: 'get', entity: 'notes', key: { id: 7 } };
    const steps = [...Array.from({ length: 100 }, () => get), query('pairs'), query('pairs')];
    expect(await call(store, language, { steps })).toEqual({
      different: [],
      answered: 1,
    });
  });

  it('also include prefetched numbers: a number that the function requested last time needs no request until the function writes', async () => {
    const store = openHeldStore();
    await write(store, { notes: [{ id: 1, text: 'a' }] });
    const row = { left: 'a', right: 1 };
    const next: HeldStep = { do: 'next', entity: 'notes', field: 'id' };
    const elsewhere: HeldStep = { do: 'insert', entity: 'pairs', row };
    const note = (id: number): HeldStep => ({
      do: 'insert',
      entity: 'notes',
      row: { id, text: 'b' },
    });
    const drawn: unknown[] = [];
    const access = accessOf(store);
    const noting: StoreAccess = {
      ...access,
      nextInteger(...named) {
        const number = access.nextInteger(...named);
        drawn.push(number);
        return number;
      },
    };
    const run = async (steps: HeldStep[]) => {
      drawn.length = 0;
      expect((await call(store, language, { steps }, noting)).different).toEqual([]);
      return [...drawn];
    };
    // Each step requests in both forms; the numbers sent with a run are fixed when it begins.
    expect(await run([next])).toEqual([2, 2]);
    expect(await run([next, next, elsewhere, next])).toEqual([2, 2, 2, 2]);
    expect(await run([next, note(2), next])).toEqual([2, 2, 3, 3]);
    expect(await run([query('notes')])).toEqual([3]);
    expect(await run([query('notes')])).toEqual([]);
  });

  it('include earlier writes of the same run', async () => {
    const store = openHeldStore();
    await write(store, { notes: [{ id: 1, text: 'a' }] });
    const access = accessOf(store);
    const overlap = () => bench.value(language, 'overlapping', { access });
    const { value } = await store.atomically(overlap);
    expect(value).toEqual(['b', 'b']);
  });
});

it('a Python worker that has lost its cache requests rows from the host', async () => {
  const store = openHeldStore();
  await write(store, { notes: [{ id: 1, text: 'a' }] });
  const insert: HeldStep = { do: 'insert', entity: 'notes', row: { id: 2, text: 'b' } };
  const steps = [query('notes'), query('notes')];
  expect(await call(store, 'python', { steps })).toMatchObject({ answered: 1 });
  const lost = [{ do: 'lose', entity: '' } as unknown as HeldStep, insert, ...steps];
  expect(await call(store, 'python', { steps: lost })).toEqual({
    different: [],
    answered: 1,
  });
});
