/**
 * Tests of refusals: for each rule of the language the smallest change to the small world that breaks
 * it, and the single problem that must be reported for it.
 */
import { describe, expect, it } from 'vitest';
import type { ProblemCode } from '#language/read/codes.ts';
import { compileChanged, replaceIn, type SmallWorld } from './small-world.ts';

export type Change = (world: SmallWorld) => void;

export type Refusal = [
  rule: string,
  change: Change,
  code: ProblemCode,
  file: string,
  pointer: string,
];

// biome-ignore lint/suspicious/noExplicitAny: tests reach into the document to break it
type Loose = any;

export const worldFile = 'schema/world.json';
export const people = 'schema/people.json';
export const environment = 'svc-env.toml';
export const connector = 'connector.toml';
export const scenario = 'scenarios/finish/scenario.toml';

/** Pointers into `schema/world.json`. */
export const lists = '/x-svc/entities/lists';
export const cards = '/x-svc/entities/cards';
export const cardFields = '/$defs/Card/properties';

/** Puts a text file, in place of a document of that name. */
export const put =
  (file: string, content: string): Change =>
  (world) => {
    delete world.json[file];
    world.text[file] = content;
  };

export const drop =
  (...files: string[]): Change =>
  (world) => {
    for (const file of files) {
      delete world.json[file];
      delete world.text[file];
    }
  };

export const replace =
  (file: string, from: string, to: string): Change =>
  (world) =>
    replaceIn(world, file, from, to);

export const append =
  (file: string, more: string): Change =>
  (world) => {
    world.text[file] += more;
  };

/** Changes `schema/world.json`, its `x-svc`, the entity `cards`, or the fields of a card. */
export const inWorld =
  (change: (document: Loose) => void): Change =>
  (world) =>
    change(world.json[worldFile]);
export const inExtension = (change: (extension: Loose) => void): Change =>
  inWorld((document) => change(document['x-svc']));
export const inCards = (change: (entity: Loose) => void): Change =>
  inExtension(({ entities }) => change(entities.cards));
export const inCardFields = (change: (properties: Loose) => void): Change =>
  inWorld(({ $defs }) => change($defs.Card.properties));

/** One test a refusal. */
export const describeRefusals = (subject: string, refusals: readonly Refusal[]): void => {
  describe(`refused in ${subject}`, () => {
    it.each(refusals)('%s', (_rule, change, code, file, pointer) => {
      const result = compileChanged(change);
      const problems = result.ok ? [] : result.problems;
      expect(problems.map((problem) => [problem.code, problem.file, problem.pointer])).toEqual([
        [code, file, pointer],
      ]);
    });
  });
};
