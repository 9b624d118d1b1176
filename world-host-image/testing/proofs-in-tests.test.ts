/** Tests worlds whose own tests prove their tasks. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TreeFile } from '#domain/world.ts';
import { createLog } from '#runtime/log.ts';
import { type ServedWorld, serveWorld } from '#test/support/host/serve-world.ts';
import { notesWorld } from '#test/support/worlds/worlds.ts';
import { runCall } from '../call-kinds/run-call.ts';
import { runSuite } from './suite.ts';

const log = createLog('tests', 'silent');
const toFile = (path: string, text: string): TreeFile => ({ path, content: Buffer.from(text) });

const sound = `
[[grader.checks]]
name = "note 7 is done"
entity = "notes"
where = { id = 7, done = true }

[grader]
kind = "assertions"

[solution]
script = "solve.py"
`;
const solve = `
from svc_env.testing import world

def solve():
    world.tools.create_notes(id=7, folder_id=5, title="seven", done=True)
`;

const tree = [
  ...notesWorld(),
  toFile('scenarios/sound/scenario.toml', sound),
  toFile('scenarios/sound/solve.py', solve),
  toFile('scenarios/sound/seed/folders.json', '[{"id": 5, "name": "five"}]'),
];

const python = `
import pytest
from svc_env.testing import world

def test_sound():
    world.insert("folders", {"id": 8, "name": "eight"})
    assert world.prove("sound")["passed"]
    # The proof is over, and so is what the test did before it.
    assert [row["id"] for row in world.query("folders")] == [1]

def test_lacking():
    world.prove("finish")

def test_unknown():
    with pytest.raises(Exception, match='no task "sonud"; it has finish, sound'):
        world.prove("sonud")

def test_afterwards():
    assert [row["id"] for row in world.query("folders")] == [1]
`;

const typescript = `
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from 'svc_env/testing';

test('sound', async () => assert.equal((await world.prove('sound')).passed, true));
test('lacking', async () => { await world.prove('finish'); });
`;

let served: ServedWorld;
beforeAll(async () => {
  served = await serveWorld(tree);
});
afterAll(() => served.stop());

describe('a test that proves a task', () => {
  it('passes for a sound task, and reports the faults of another task', async () => {
    const files = [
      toFile('tests/test_proofs.py', python),
      toFile('tests/proofs.test.ts', typescript),
    ];
    // A proof may take longer than a test.
    const limits = { testMs: 5_000, loadMs: 20_000, suiteMs: 90_000 };
    const { tests } = await runSuite(served.session, files, limits, (of, call) =>
      runCall(of, call, log),
    );
    const outcomes = tests.map(({ name, outcome }) => [name.replace(/^.*::/, ''), outcome]);
    expect(outcomes).toEqual([
      ['test_sound', 'passed'],
      ['test_lacking', 'failed'],
      ['test_unknown', 'passed'],
      ['test_afterwards', 'passed'],
      ['sound', 'passed'],
      ['lacking', 'failed'],
    ]);
    for (const { failure } of tests.filter(({ outcome }) => outcome === 'failed')) {
      expect(failure?.message).toMatch(
        /the task finish is not proved\n(.*\n)*the solution: the task has none/,
      );
    }
  });
});
