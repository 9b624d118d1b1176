/**
 * Changes to the small world, for tests of what the world language accepts and refuses: files written, removed and
 * edited, and the data model changed at the places that rules are about.
 */
import { replaceIn, type SmallWorld } from './small-world.ts';

export type Change = (world: SmallWorld) => void;

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

/** Writes a text file, replacing a document of that name. */
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

/** Builders of changes: to `schema/world.json`, its `x-svc`, the entity `cards`, or the fields of a card. */
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

/** Writes a file of bytes, which need not be text. */
export const bytes =
  (file: string, content: number[]): Change =>
  (world) => {
    drop(file)(world);
    world.bytes[file] = Uint8Array.from(content);
  };

/** Makes one change, and then a second one. */
export const both =
  (first: Change, second: Change): Change =>
  (world) => {
    first(world);
    second(world);
  };

/** Changes nothing. */
export const asItIs: Change = () => undefined;

const bareEnvironment = `\
[schema]
language = "svc-world/1"

[environment]
name = "Board"
kind = "mock-tools"

[tools]
serve = []
`;

/** Reduces the world to its data model and a manifest, then makes a further change. */
export const onlyModel =
  (change: Change = asItIs): Change =>
  (world) => {
    world.json = { [worldFile]: world.json[worldFile], [people]: world.json[people] };
    world.json[worldFile]['x-svc'].tools = {};
    world.text = { [environment]: bareEnvironment };
    change(world);
  };
