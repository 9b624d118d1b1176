/** A schema by itself, put through the same checks as the schemas of a world. */
import type { EntityContract, JsonSchema } from '#language/contract.ts';
import { createProblems } from '#language/read/place.ts';
import { openTree } from '#language/read/tree.ts';
import { createShapeChecker } from '#language/schema/checkers.ts';
import { createLibrary, definitionTable } from '#language/schema/library.ts';

/** Either the codes of what is wrong with the schema, sorted, or whether a value fits it. */
export type TakenSchema =
  | { refused: string[]; fits?: never }
  | { refused?: never; fits(value: unknown): boolean };

/** Takes a schema with definitions as `schema/world.json` would, as the shape of an entity's rows. */
export const takeSchema = (
  written: unknown,
  definitionsWritten: Readonly<Record<string, unknown>>,
): TakenSchema => {
  const problems = createProblems();
  const tree = openTree([], problems);
  if (tree === undefined) throw new Error('an empty tree was refused');
  const place = tree.place('schema/world.json');
  const definitions = definitionTable(place.at('$defs'), definitionsWritten) ?? new Map();
  const library = createLibrary(tree, definitions);
  const schema: JsonSchema = library.take(place, written);
  const contract = {
    definitions: library.finish(),
    entities: [{ name: 'rows', schema } as EntityContract],
  };
  const codes = new Set(problems.list().map(({ code }) => code));
  if (codes.size > 0) return { refused: [...codes].sort() };
  const checker = createShapeChecker(contract);
  return { fits: (value) => checker.check('rows', value).length === 0 };
};
