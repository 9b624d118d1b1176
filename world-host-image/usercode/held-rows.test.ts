/**
 * Reads that workers answer from the rows that they hold: each must be what the store would answer, in
 * values, types and order, whatever was asked, written, undone and reset before.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import type { WorldStore } from '#store/world-store.ts';
import { fuzzRuns } from '#test/support/fuzz.ts';
import {
  accessOf,
  type HeldStep,
  heldRows,
  heldSteps,
  openHeldStore,
} from '#test/support/held-world.ts';
import { type Bench, startBench } from '#test/support/user-code.ts';
import type { StoreAccess, UserLanguage } from './run.ts';

/** Does each step, each read in both ways; answers where they differ, and how many needed no ask. */
const python = `
import ast, json
from svc_env import Refused, clock, delete, fail, get, insert, query, update
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
    where, order = made(step["where"]), step["order"]
    held = attempt(lambda: query(entity, where, step["limit"], step["offset"], order))
    return held, lambda: run._ask("query", entity=entity, where=where, limit=step["limit"],
                                  offset=step["offset"], orderBy=order or [])

def perform(steps, fails):
    run, different, answered = current_run(), [], 0
    for step in steps:
        match step["do"]:
            case "insert":
                attempt(lambda: insert(step["entity"], step["row"]))
            case "update":
                attempt(lambda: update(step["entity"], step["key"], step["patch"]))
            case "remove":
                attempt(lambda: delete(step["entity"], step["key"]))
            case "lose":
                run._held.lose()
            case _:
                asked = run._asked
                held, ask = both(step, run)
                answered += run._asked == asked
                told = attempt(ask)
                if held != told:
                    different.append([step, held, told])
    if fails:
        fail("as wanted", code="wanted", different=different, answered=answered)
    return {"different": different, "answered": answered}
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

type Outcome = { different: unknown[]; answered: number };

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
  await bench.load({ 'tools.py': python });
});
afterAll(() => bench.close());

/** One call over the store, as a session has it: a transaction, undone where it fails. */
const call = async (
  store: WorldStore,
  language: UserLanguage,
  input: { steps: HeldStep[]; fails: boolean },
  access: StoreAccess = accessOf(store),
): Promise<Outcome> => {
  const failed: { outcome?: Outcome } = {};
  const done = store.atomically(async () => {
    const result = await bench.code.run({
      language,
      file: language === 'python' ? 'tools.py' : 'tools.ts',
      function: 'perform',
      as: 'tool',
      input,
      access,
      timeoutMs: 20_000,
    });
    if (result.ok) return result.value as Outcome;
    if (result.error.code === 'wanted') failed.outcome = result.error.details as Outcome;
    throw new Error(JSON.stringify(result.error));
  });
  const { value } = await done.catch((error: unknown) => {
    if (failed.outcome === undefined) throw error;
    return { value: failed.outcome };
  });
  return value;
};

const literals = { python: pythonLiterals } as const;

/** Writes rows in place of those with their ids, as routes and seeds do. */
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

describe.each(['python'] as const)('reads of held rows in %s', (language) => {
  it('are what the store answers, whatever was written, undone and reset', async () => {
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

  it('are told of to the host, once for each entity of a run', async () => {
    const store = openHeldStore();
    await write(store, { notes: [{ id: 1, text: 'a' }], pairs: [{ left: 'a', right: 1 }] });
    const reads: string[] = [];
    const access = accessOf(store, reads);
    const run = (steps: HeldStep[]) => call(store, language, { steps, fails: false }, access);
    await run([query('notes'), query('pairs')]);
    reads.length = 0;
    const both = [query('pairs'), query('notes'), query('notes')];
    expect(await run(both)).toEqual({ different: [], answered: 3 });
    await run([query('notes')]);
    expect(reads).toEqual(['notes', 'pairs', 'notes']);
  });

  it('are of the store that a call is over, and of no other', async () => {
    const stores = [openHeldStore(), openHeldStore()];
    for (const [id, store] of stores.entries()) await write(store, { notes: [{ id, text: 'a' }] });
    for (let round = 0; round < 3; round += 1) {
      for (const store of stores) {
        const outcome = await call(store, language, { steps: [query('notes')], fails: false });
        expect(outcome.different).toEqual([]);
      }
    }
  });

  it('go to the host where an entity is too large to be held', async () => {
    const store = openHeldStore();
    const text = 'x'.repeat(1_000);
    await write(store, { notes: Array.from({ length: 1_100 }, (_, id) => ({ id, text })) });
    const get: HeldStep = { do: 'get', entity: 'notes', key: { id: 7 } };
    const steps = [...Array.from({ length: 100 }, () => get), query('pairs'), query('pairs')];
    expect(await call(store, language, { steps, fails: false })).toEqual({
      different: [],
      answered: 1,
    });
  });

  it('go to the host again when a worker has lost what it held', async () => {
    const store = openHeldStore();
    await write(store, { notes: [{ id: 1, text: 'a' }] });
    const insert: HeldStep = { do: 'insert', entity: 'notes', row: { id: 2, text: 'b' } };
    const steps = [query('notes'), query('notes')];
    expect(await call(store, language, { steps, fails: false })).toMatchObject({ answered: 1 });
    const lost = [{ do: 'lose', entity: '' } as unknown as HeldStep, insert, ...steps];
    expect(await call(store, language, { steps: lost, fails: false })).toEqual({
      different: [],
      answered: 1,
    });
  });
});
