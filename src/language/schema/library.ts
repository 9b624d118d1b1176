/**
 * Library of a world's schemas and their shared definitions. A `$ref` may only lead to `#/$defs/<name>` of the same
 * file or to `<sibling>.json#/$defs/<name>` in the same folder. Sibling files are read when a schema first refers to
 * them; files to which no schema refers are read at the end. Their definitions become definitions of the contract with
 * the name `<sibling>.json:<name>`.
 */
import type { JsonSchema } from '../contract.ts';
import { languageLimits } from '../limits.ts';
import { anything, type Kind, mapOf, type Placed, placed, text } from '../read/kinds.ts';
import { acceptDefinitionName } from '../read/names.ts';
import { generatedPaths } from '../read/paths.ts';
import type { Place } from '../read/place.ts';
import { suggestName } from '../read/suggest.ts';
import { defaulted, optional, readTable } from '../read/table.ts';
import type { Tree } from '../read/tree.ts';
import { deepestDefinition, refuseEndlessWork, refuseWideSchemas } from './bounds.ts';
import { checkSchema, type SchemaScope } from './check-schema.ts';
import { type JudgedPattern, judgePattern } from './patterns.ts';

/** Definitions as written, by name, with their places. */
export type Definitions = Map<string, Placed<unknown>>;

/** Kind of a `$defs` table. */
export const definitionTable: Kind<Definitions> = mapOf(placed(anything));

export type Library = {
  /** Checks a schema and returns it with references that resolve inside the contract. */
  take(place: Place, schema: unknown): JsonSchema;
  /**
   * Returns a definition to which a checked schema refers, with its place; `name` is the definition's name in the
   * contract.
   */
  definition(name: string): Placed<JsonSchema> | undefined;
  /**
   * Returns all definitions; must be called after the last call of `take`. Returns an empty object if there are too
   * many definitions, or if they nest too deep.
   */
  finish(): Record<string, JsonSchema>;
};

const worldFile = 'schema/world.json';

const siblingKeys = {
  $schema: optional(text),
  $id: optional(text),
  $comment: optional(text),
  title: optional(text),
  description: optional(text),
  $defs: defaulted<Definitions>(definitionTable, new Map()),
};

const referenceHint = 'write #/$defs/<name>, or <sibling>.json#/$defs/<name> in the same folder';

const refuseReference = (place: Place, why: string, hint?: string): undefined => {
  place.refuse('bad_reference', `the reference ${why}`, hint);
};

/** Splits a reference into the file and the name of the definition. */
const splitReference = (
  place: Place,
  reference: string,
): { file: string; name: string } | undefined => {
  const shown = JSON.stringify(reference.slice(0, 200));
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(reference) || reference.startsWith('//')) {
    return refuseReference(place, `${shown} is a URL, and no URL is ever fetched`, referenceHint);
  }
  const [, sibling, name] = /^([^#]*)#\/\$defs\/([^/]+)$/.exec(reference) ?? [];
  if (name === undefined)
    return refuseReference(place, `${shown} names no definition`, referenceHint);
  if (sibling === '' || sibling === undefined) return { file: place.file, name };
  if (/^[A-Za-z0-9_-][A-Za-z0-9_.-]*\.json$/.test(sibling))
    return { file: `schema/${sibling}`, name };
  return refuseReference(place, `${shown} leaves the folder`, referenceHint);
};

const contractName = (file: string, name: string): string =>
  file === worldFile ? name : `${file.slice('schema/'.length)}:${name}`;

const isWithinLimits = (
  tree: Tree,
  taken: ReadonlyMap<string, Placed<JsonSchema>>,
  definitions: Readonly<Record<string, JsonSchema>>,
): boolean => {
  if (taken.size > languageLimits.definitions) {
    const message = `the world has ${taken.size} definitions, more than ${languageLimits.definitions}`;
    tree.place(worldFile).at('$defs').refuse('too_many', message);
    return false;
  }
  const deepest = deepestDefinition(definitions);
  if (deepest === undefined || deepest.depth <= languageLimits.schemaNesting) return true;
  const message = `schemas nest ${deepest.depth} levels deep below the definition "${deepest.name}", more than ${languageLimits.schemaNesting}`;
  taken.get(deepest.name)?.place.refuse('schema_too_complex', message);
  return false;
};

/** Creates a check of patterns, which limits the size of all patterns together. Each pattern is compiled once. */
const createPatternCheck = (tree: Tree): SchemaScope['acceptsPattern'] => {
  const judged = new Map<string, JudgedPattern>();
  let total = 0;
  return (place, source) => {
    if (total > languageLimits.patternSizes) return false;
    const known = judged.get(source);
    const { size = 0, fault } = known ?? judgePattern(source);
    if (known === undefined) {
      judged.set(source, fault === undefined ? { size } : { fault });
      total += size;
    }
    if (total > languageLimits.patternSizes) {
      const message = `all patterns of the world together are larger than ${languageLimits.patternSizes} characters, with repetitions counted`;
      tree.place(worldFile).refuse('schema_too_complex', message);
    }
    if (fault === undefined) return true;
    const message = `the pattern ${JSON.stringify(source.slice(0, 200))} cannot be used: ${fault}`;
    const hint = 'patterns run on RE2, which has no look-around and no back-references';
    place.refuse('bad_pattern', message, hint);
    return false;
  };
};

/** Creates a library over the definitions of `schema/world.json`. */
export const createLibrary = (tree: Tree, own: Definitions): Library => {
  /** Definitions by file; a file that cannot be read has no entries. */
  const files = new Map<string, Definitions>();
  const taken = new Map<string, Placed<JsonSchema>>();
  const roots: Placed<JsonSchema>[] = [];
  let references = 0;

  const takeFile = (file: string, definitions: Definitions): void => {
    const accepted = new Map(
      [...definitions].filter(([name, { place }]) => acceptDefinitionName(place, name)),
    );
    files.set(file, accepted);
    for (const [name, { place, value }] of accepted) {
      taken.set(contractName(file, name), { place, value: checkSchema(place, value, scope) });
    }
  };

  const definitionsOf = (place: Place, file: string): Definitions | undefined => {
    const known = files.get(file);
    if (known !== undefined) return known;
    if (generatedPaths.some((path) => path === file)) {
      return refuseReference(place, `leads to ${file}, which is a generated file`);
    }
    if (!tree.has(file))
      return refuseReference(place, `leads to ${file}, which is not in the tree`);
    files.set(file, new Map());
    const document = tree.authoredJson(file);
    if (document === undefined) return undefined;
    takeFile(file, readTable(document.place, document.value, siblingKeys).$defs);
    return files.get(file);
  };

  const resolve = (place: Place, reference: string): string | undefined => {
    references += 1;
    if (references > languageLimits.references) return undefined;
    const target = splitReference(place, reference);
    const definitions = target && definitionsOf(place, target.file);
    if (target === undefined || definitions === undefined) return undefined;
    if (definitions.has(target.name)) return `#/$defs/${contractName(target.file, target.name)}`;
    const hint = suggestName(target.name, definitions.keys());
    return refuseReference(
      place,
      `leads to "${target.name}", which ${target.file} does not define`,
      hint,
    );
  };

  const scope: SchemaScope = { resolve, acceptsPattern: createPatternCheck(tree) };
  /** Reads the sibling files to which no schema refers, so that their problems are reported. */
  const readRest = (): void => {
    for (const file of tree.paths('schema/')) {
      const isSibling = /^schema\/[^/]+\.json$/.test(file) && file !== worldFile;
      const isGenerated = generatedPaths.some((path) => path === file);
      if (isSibling && !isGenerated) definitionsOf(tree.place(file), file);
    }
  };

  takeFile(worldFile, own);
  return {
    take(place, value) {
      const schema = checkSchema(place, value, scope);
      roots.push({ place, value: schema });
      return schema;
    },
    definition: (name) => taken.get(name),
    finish() {
      readRest();
      const definitions = Object.fromEntries([...taken].map(([name, { value }]) => [name, value]));
      if (references > languageLimits.references) {
        const message = `there are ${references} references, more than ${languageLimits.references}`;
        tree.place(worldFile).refuse('too_many', message);
        return {};
      }
      if (!isWithinLimits(tree, taken, definitions)) return {};
      refuseWideSchemas([...taken.values(), ...roots]);
      refuseEndlessWork(taken, roots);
      return definitions;
    },
  };
};
