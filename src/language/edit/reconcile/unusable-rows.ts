/**
 * Finds rows to which no data model can be fitted: captured rows without their key, and rows with fields whose names no
 * field can have. The captures or the ingest rules must be corrected.
 */
import { own } from '#domain/json.ts';
import type { Model } from '../../check/model.ts';
import { languageLimits } from '../../limits.ts';
import type { Problem } from '../../problem.ts';
import type { ProblemCode } from '../../read/codes.ts';
import { acceptFieldName } from '../../read/names.ts';
import { createPlace, createProblems } from '../../read/place.ts';
import { isTable, kindOf } from '../../read/values.ts';
import type { SourcedRow } from './captured-rows.ts';

const unusable: ProblemCode = 'unusable_capture';
const maxProblems = 50;

const isKeyValue = (value: unknown): boolean =>
  typeof value === 'string' || Number.isSafeInteger(value);

const keyProblems = ({ row, source, index }: SourcedRow, key: readonly string[]): Problem[] =>
  key.flatMap((field): Problem[] => {
    const value = own(row, field);
    if (isKeyValue(value)) return [];
    const { entity, file } = source;
    const what = value === undefined ? 'lacks it' : `has ${kindOf(value)}`;
    const message = `every row of "${entity}" must have the key "${field}", a text or a whole number, but row ${index} of this capture ${what}`;
    const hint = `change the primary key of "${entity}", or the ingest rules of the operation`;
    return [{ file, pointer: '', code: unusable, message, hint }];
  });

/** Creates a function that reports invalid field names, each name once. */
const createNameCheck = (declared: readonly string[]) => {
  const folded = new Map(declared.map((name) => [name.toLowerCase(), name]));
  const accepted = new Set(declared);
  return (name: string, { source: { entity, file } }: SourcedRow): Problem[] => {
    if (accepted.has(name)) return [];
    accepted.add(name);
    const hint = `drop the field in the ingest rules of the operation, or take it under another name`;
    const owner = `captured rows of "${entity}" have the field "${name.slice(0, 100)}"`;
    const unusableName = (why: string): Problem[] => [
      { file, pointer: '', code: unusable, message: `${owner}: ${why}`, hint },
    ];
    const twin = folded.get(name.toLowerCase());
    folded.set(name.toLowerCase(), name);
    if (twin !== undefined) return unusableName(`it differs from "${twin}" only by case`);
    const refused = createProblems();
    if (!acceptFieldName(createPlace(refused, file), name)) {
      return unusableName(refused.list()[0]?.message ?? 'no field can have that name');
    }
    if (accepted.size !== languageLimits.fieldsPerEntity + 1) return [];
    return unusableName(`with this field there are more than ${languageLimits.fieldsPerEntity}`);
  };
};

/**
 * Returns the problems because of which captured rows cannot be rows of their entities, however the entities are
 * changed.
 */
export const findUnusable = (captured: readonly SourcedRow[], model: Model): Problem[] => {
  const problems: Problem[] = [];
  const byEntity = Map.groupBy(captured, ({ source }) => source.entity);
  for (const [name, rows] of byEntity) {
    const entity = model.entities.get(name);
    const properties = entity?.schema.properties;
    const checkName = createNameCheck(isTable(properties) ? Object.keys(properties) : []);
    for (const row of rows) {
      problems.push(...keyProblems(row, entity?.primaryKey ?? []));
      for (const field of Object.keys(row.row)) problems.push(...checkName(field, row));
      if (problems.length >= maxProblems) return problems.slice(0, maxProblems);
    }
  }
  return problems;
};
