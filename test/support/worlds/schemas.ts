/** Puts a schema by itself through the same checks as the schemas of a world. */
import type { EntityContract, JsonSchema } from '#language/contract.ts';
import { languageLimits } from '#language/limits.ts';
import { createProblems } from '#language/read/place.ts';
import { openTree } from '#language/read/tree.ts';
import { createShapeChecker } from '#language/schema/checkers.ts';
import { createFirstLook } from '#language/schema/first-look.ts';
import { createLibrary, definitionTable } from '#language/schema/library.ts';
import { createShapes } from '#language/schema/shapes.ts';

const { lookSteps, checkSteps, explanationSteps } = languageLimits;

/** Result of the checks: either the codes of the schema's faults, sorted, or functions that check values. */
export type TakenSchema =
  | { refused: string[]; fits?: never }
  | {
      refused?: never;
      /** Returns true if the checker accepts a value. */
      fits(value: unknown): boolean;
      /** Returns true if the validator alone accepts a value. `looksFit` returns true if the quick check does. */
      validates(value: unknown): boolean;
      looksFit(value: unknown): boolean;
    };

/** Checks a schema with definitions as `schema/world.json` would have it, as the shape of an entity's rows. */
export const takeSchema = (
  written: unknown,
  definitionsWritten: Readonly<Record<string, unknown>>,
): TakenSchema => {
  const problems = createProblems();
  const tree = openTree([], problems);
  if (tree === undefined) throw new Error('the schema checker refused an empty schema');
  const place = tree.place('schema/world.json');
  const definitions = definitionTable(place.at('$defs'), definitionsWritten) ?? new Map();
  const library = createLibrary(tree, definitions);
  const schema: JsonSchema = library.take(place, written);
  const definitionsTaken = library.finish();
  const contract = {
    definitions: definitionsTaken,
    entities: [{ name: 'rows', schema } as EntityContract],
  };
  const codes = new Set(problems.list().map(({ code }) => code));
  if (codes.size > 0) return { refused: [...codes].sort() };
  const checker = createShapeChecker(contract);
  const limits = { look: 0, verdict: checkSteps, explanation: explanationSteps };
  const validate = createShapes(definitionsTaken, new Map([['rows', schema]]), limits).get('rows');
  const look = createFirstLook(definitionsTaken)(schema);
  return {
    fits: (value) => checker.check('rows', value).length === 0,
    validates: (value) => validate?.(value).length === 0,
    looksFit: (value) => look(value, lookSteps),
  };
};
