/**
 * Measures how long checking and compiling a world takes: with 10 entities, with 300 and 1,000 operations, and in
 * between, where the targets are interpolated on a straight line. All rows are checked.
 *
 * The floor is parsing the same files. The peer is Ajv by itself, with its own formats, compiling the shapes of the
 * rows and checking the rows, which is a part of compiling a world.
 */

import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { parse as parseToml } from 'smol-toml';
import type { TreeFile } from '../../src/domain/world.ts';
import { compileTree } from '../../src/language/compile/compile.ts';
import { type Figure, median, sample } from './figure.ts';
import { generateWorld } from './language-world.ts';

const rowsPerEntity = 100;
const smallest = { entities: 10, targetMs: 15 };
const largest = { entities: 300, targetMs: 600 };
const sizes = [smallest.entities, 50, 100, 200, largest.entities];
const operationsPerEntity = 1_000 / largest.entities;

const targetOf = (entities: number): number => {
  const share = (entities - smallest.entities) / (largest.entities - smallest.entities);
  return smallest.targetMs + share * (largest.targetMs - smallest.targetMs);
};

const textOf = ({ content }: TreeFile): string => new TextDecoder().decode(content);

const parseAll = (files: readonly TreeFile[]): void => {
  for (const file of files) {
    if (file.path.endsWith('.json')) JSON.parse(textOf(file));
    else parseToml(textOf(file));
  }
};

type WorldJson = {
  $id: string;
  $defs: Record<string, object>;
  'x-svc': { entities: Record<string, { schema: { $ref: string } }> };
};

const checkRowsWithAjv = (files: readonly TreeFile[]): void => {
  const parsed = new Map(
    files
      .filter(({ path }) => path.endsWith('.json'))
      .map((file) => [file.path, JSON.parse(textOf(file)) as unknown]),
  );
  const world = parsed.get('schema/world.json') as WorldJson;
  const ajv = new Ajv2020({ strict: false, meta: false, validateSchema: false });
  ajvFormats.default(ajv);
  ajv.addSchema({ $id: world.$id, $defs: world.$defs });
  for (const [name, { schema }] of Object.entries(world['x-svc'].entities)) {
    const validate = ajv.getSchema(`${world.$id}${schema.$ref}`);
    for (const row of parsed.get(`data/${name}.json`) as unknown[]) {
      if (!validate?.(row)) throw new Error(`a row of ${name} does not fit`);
    }
  }
};

const compile = (files: readonly TreeFile[]): void => {
  const result = compileTree(files);
  if (!result.ok) throw new Error(`the world has problems: ${JSON.stringify(result.problems[0])}`);
};

/** Returns the milliseconds of the work, after a few runs to warm up. */
const measure = async (entities: number, work: () => void): Promise<number> => {
  const runs = entities <= 50 ? 30 : 7;
  await sample(Math.ceil(runs / 3), async () => work());
  return median(await sample(runs, async () => work()));
};

const measureSize = async (entities: number): Promise<Figure> => {
  const operations = Math.round(entities * operationsPerEntity);
  const files = generateWorld({ entities, rowsPerEntity, operations });
  return {
    name: `language.compile.${entities}`,
    value: await measure(entities, () => compile(files)),
    unit: 'ms',
    floor: await measure(entities, () => parseAll(files)),
    peer: await measure(entities, () => checkRowsWithAjv(files)),
    target: targetOf(entities),
    better: 'lower',
  };
};

/** Returns one figure for each size, smallest first. */
export const benchLanguage = async (): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const entities of sizes) figures.push(await measureSize(entities));
  return figures;
};
