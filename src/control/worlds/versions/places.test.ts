/**
 * Tests the paths of problems in worlds and tasks. A name with `/` or `~` must appear in a path as its author wrote it.
 */
import { describe, expect, it } from 'vitest';
import { encodeBundle } from '#language/artifacts/bundle.ts';
import {
  contractOf,
  type SmallWorld,
  smallWorld,
  toTree,
} from '#test/support/worlds/small-world.ts';
import { buildVersion } from '../compile/build.ts';
import { checkTask, createWorldCache } from '../compile/check-task.ts';
import { refusedWorld } from './problems.ts';
import { requestProblems } from './runtime.ts';

const oddName = 'in/out~now';

/** Adds a field with an unusual name to the entity `lists`, and makes the values of the field unique. */
const makeOdd = (world: SmallWorld): void => {
  const { lists } = world.json['schema/world.json']['x-svc'].entities;
  lists.schema.properties.about = { type: 'object', properties: { [oddName]: { type: 'string' } } };
  lists.unique = [['/about/in~1out~0now']];
};

const listOf = (value: unknown) => ({ id: 77, name: 'Odd', about: { [oddName]: value } });

describe('the path of a problem', () => {
  it('names a key of a file as the author wrote it', () => {
    const problem = {
      file: 'data/lists.json',
      pointer: '/0/in~1out~0now',
      code: 'x',
      message: 'y',
    };
    expect(refusedWorld([problem]).fields[0]?.path).toEqual(['data/lists.json', '0', oddName]);
  });

  it('names a field of a row in a request as the client wrote it', () => {
    const world = smallWorld();
    makeOdd(world);
    const files = toTree(world);
    const misfit = buildVersion(files, { lists: [listOf(5)] });
    expect(misfit).toMatchObject({
      row: { field: { path: ['data', 'rows', 'lists', '0', 'about', oddName] } },
    });
    const twins = [listOf('same'), { ...listOf('same'), id: 78 }];
    expect(buildVersion(files, { lists: twins })).toMatchObject({
      row: { field: { path: ['data', 'rows', 'lists', '1', 'about', oddName] } },
    });
  });

  it('names a field of a row of a task as the author wrote it', () => {
    const bundle = encodeBundle({ contract: contractOf(makeOdd), files: [] });
    const known = createWorldCache()({ digest: 'sha256:0', project: 'prj-1', bundle });
    const checked = checkTask(known, { seed: { mode: 'append', rows: { lists: [listOf(5)] } } });
    expect(checked).toMatchObject({
      fields: [{ path: ['task', 'seed', 'rows', 'lists', '0', 'about', oddName] }],
    });
  });

  it('is a JSON pointer if a command on the files of a world is refused', () => {
    const fields = [{ path: ['data', oddName], message: 'is unknown' }];
    expect(requestProblems(fields, '')).toMatchObject([{ pointer: '/data/in~1out~0now' }]);
  });
});
