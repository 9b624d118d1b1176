/** Step 3: the world is compiled from its folder and created; the service must have compiled the same. */
import { fileURLToPath } from 'node:url';
import { compileTree } from '#language/compile/compile.ts';
import type { Contract } from '#language/contract.ts';
import type { Client } from '#wire/client.ts';
import { createWorld as createWorldOperation } from '#wire/public-api/operations.ts';
import type { WorldDetail } from '#wire/public-api/world.ts';
import type { Context } from '../../context.ts';
import { encodeTree, readTree } from '../../input.ts';
import { formatCount, formatFields } from '../../print.ts';
import { problemsError } from '../../report.ts';
import { expectEqual } from '../expect.ts';
import { worldSlug } from '../story.ts';
import type { Step } from '../timeline.ts';

const templateDir = fileURLToPath(new URL(`../../../templates/${worldSlug}`, import.meta.url));

const toolText = (contract: Contract): string => {
  const count = (...kinds: string[]): number =>
    contract.tools.filter(({ binding }) => kinds.includes(binding.kind)).length;
  return [
    `${count('python')} in Python`,
    `${count('typescript')} in TypeScript`,
    `${count('operation')} by route`,
    `${count('convention')} by convention`,
  ].join(', ');
};

const describe = (contract: Contract, world: WorldDetail): string =>
  formatFields([
    ['world', `${world.slug}, ${contract.name}, version ${world.version.number}`],
    [
      'rows',
      Object.entries(world.version.entityCounts)
        .map(([entity, count]) => `${count} ${entity}`)
        .join(', '),
    ],
    ['tools', `${formatCount(contract.tools.length, 'tool')}: ${toolText(contract)}`],
    ['routes', `${formatCount(contract.api?.routes.length ?? 0, 'route')} of the vendor's API`],
    ['tasks', contract.tasks.map(({ name }) => name).join(', ')],
    ['content', world.version.contentHash],
  ]);

export const createWorld = async (
  step: Step,
  client: Client,
  context: Context,
): Promise<WorldDetail> => {
  const tree = readTree(context, templateDir);
  const compiled = compileTree(tree);
  if (!compiled.ok) throw problemsError(templateDir, compiled.problems, tree);
  const { contract, baseRows } = compiled;
  const { body: world } = await client.send(createWorldOperation, {
    body: { slug: worldSlug, from: encodeTree(tree), message: 'from its template' },
  });
  const named = (names: readonly string[]): string[] => [...names].sort();
  expectEqual('the slug', world.slug, worldSlug);
  expectEqual('the number of its version', world.version.number, 1);
  expectEqual('its tools', named(world.tools), named(contract.tools.map(({ name }) => name)));
  expectEqual('its tasks', named(world.tasks), named(contract.tasks.map(({ name }) => name)));
  for (const { name } of contract.entities) {
    const expected = baseRows[name]?.length ?? 0;
    expectEqual(`rows of ${name}`, world.version.entityCounts[name], expected);
  }
  step.note(describe(contract, world));
  return world;
};
