/**
 * One entry for each rule of the language: the smallest change to a good world that breaks the rule,
 * and the single problem that must be reported for it.
 */
import { describe, expect, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import { languageLimits } from './limits.ts';
import type { ProblemCode } from './read/codes.ts';
import { compileChanged, replaceIn, type SmallWorld } from './testing/small-world.ts';

type Refusal = [
  rule: string,
  change: (world: SmallWorld) => void,
  code: ProblemCode,
  file: string,
  pointer: string,
];

const worldFile = 'schema/world.json';
const people = 'schema/people.json';
const environment = 'svc-env.toml';
const connector = 'connector.toml';
const scenario = 'scenarios/finish/scenario.toml';

// biome-ignore lint/suspicious/noExplicitAny: tests reach into the document to break it
type Loose = any;

const put = (file: string, content: string) => (world: SmallWorld) => {
  delete world.json[file];
  world.text[file] = content;
};
const drop =
  (...files: string[]) =>
  (world: SmallWorld) => {
    for (const file of files) {
      delete world.json[file];
      delete world.text[file];
    }
  };
const inWorld =
  (change: (document: Loose) => void) =>
  (world: SmallWorld): void =>
    change(world.json[worldFile]);
const inExtension = (change: (extension: Loose) => void) =>
  inWorld((document) => change(document['x-svc']));
const inCards = (change: (cards: Loose) => void) =>
  inExtension(({ entities }) => change(entities.cards));
const inCardFields = (change: (properties: Loose) => void) =>
  inWorld(({ $defs }) => change($defs.Card.properties));
const replace = (file: string, from: string, to: string) => (world: SmallWorld) =>
  replaceIn(world, file, from, to);
const append = (file: string, more: string) => (world: SmallWorld) => {
  world.text[file] += more;
};

const lists = '/x-svc/entities/lists';
const cards = '/x-svc/entities/cards';
const cardFields = '/$defs/Card/properties';

const treeRules: Refusal[] = [
  ['a path goes up', put('../x.md', ''), 'bad_path', '../x.md', ''],
  ['a path is absolute', put('/x.md', ''), 'bad_path', '/x.md', ''],
  ['a path names a drive', put('C:/x.md', ''), 'bad_path', 'C:/x.md', ''],
  ['a path has a backslash', put('a\\x.md', ''), 'bad_path', 'a\\x.md', ''],
  ['a path has a NUL', put('a\0.md', ''), 'bad_path', 'a\0.md', ''],
  ['a path has an empty segment', put('a//x.md', ''), 'bad_path', 'a//x.md', ''],
  ['paths differ by case', put('readme.MD', ''), 'bad_path', 'readme.MD', ''],
  ['a file is a folder', put('README.md/x', ''), 'bad_path', 'README.md/x', ''],
  [
    'a file is too large',
    put('big.md', ' '.repeat(limits.treeFileBytes + 1)),
    'file_too_large',
    'big.md',
    '',
  ],
  [
    'a hand-written file is too large',
    append(environment, `#${' '.repeat(languageLimits.authoredFileBytes)}`),
    'file_too_large',
    environment,
    '',
  ],
  [
    'there are too many files',
    (w) => {
      for (let i = 0; i <= limits.treeFiles; i += 1) w.text[`notes/${i}.md`] = '';
    },
    'too_many_files',
    '',
    '',
  ],
  [
    'the tree is too large',
    (w) => {
      for (let i = 0; i < 5; i += 1) w.text[`${i}.md`] = ' '.repeat(limits.treeBytes / 4);
    },
    'tree_too_large',
    '',
    '',
  ],
  ['the manifest is missing', drop(environment), 'missing_file', environment, ''],
  ['the data model is missing', drop(worldFile), 'missing_file', worldFile, ''],
  ['a verifier task', put('tasks.json', '[]'), 'unsupported_file', 'tasks.json', ''],
  ['rows in CSV', put('data/a.csv', ''), 'unsupported_file', 'data/a.csv', ''],
];

const notationRules: Refusal[] = [
  ['broken JSON', put('data/lists.json', '[1,'), 'syntax', 'data/lists.json', ''],
  ['broken TOML', replace(environment, '[schema]', '[schema'), 'syntax', environment, ''],
  ['a key twice in TOML', replace(environment, 'kind =', 'name ='), 'syntax', environment, ''],
  [
    'a key twice in JSON',
    (w) => {
      const text = JSON.stringify(w.json[people]).replace(
        '"maxLength":40',
        '"maxLength":40,"maxLength":41',
      );
      delete w.json[people];
      w.text[people] = text;
    },
    'duplicate_key',
    people,
    '/$defs/Login/maxLength',
  ],
  [
    'bottomless JSON',
    (w) => {
      w.text['scenarios/finish/seed/lists.json'] = '['.repeat(100_000) + ']'.repeat(100_000);
    },
    'too_deep',
    'scenarios/finish/seed/lists.json',
    '',
  ],
  [
    'a number that would lose digits',
    (w) => {
      w.text['scenarios/finish/seed/lists.json'] = '[{"id": 12345678901234567890, "name": "n"}]';
    },
    'unsafe_number',
    'scenarios/finish/seed/lists.json',
    '',
  ],
  [
    'a bare date',
    replace(scenario, 'id = 3', 'created_at = 2025-01-02T03:04:05Z'),
    'wrong_type',
    scenario,
    '/grader/checks/0/where/created_at',
  ],
];

const documentRules: Refusal[] = [
  [
    'another dialect',
    inWorld((d) => (d.$schema = 'http://json-schema.org/draft-07/schema#')),
    'bad_value',
    worldFile,
    '/$schema',
  ],
  ['no dialect', inWorld((d) => delete d.$schema), 'missing_key', worldFile, '/$schema'],
  ['a relative $id', inWorld((d) => (d.$id = 'world.json')), 'bad_value', worldFile, '/$id'],
  [
    'an $id with a fragment',
    inWorld((d) => (d.$id = 'urn:svc:a#b')),
    'bad_value',
    worldFile,
    '/$id',
  ],
  ['an unknown member', inWorld((d) => (d.type = 'object')), 'unknown_key', worldFile, '/type'],
  [
    'an unknown x-svc member',
    inExtension((x) => (x.entity = {})),
    'unknown_key',
    worldFile,
    '/x-svc/entity',
  ],
  [
    'no domain_version',
    inExtension((x) => delete x.domain_version),
    'missing_key',
    worldFile,
    '/x-svc/domain_version',
  ],
  [
    'an empty domain_version',
    inExtension((x) => (x.domain_version = '')),
    'bad_value',
    worldFile,
    '/x-svc/domain_version',
  ],
  [
    'a long domain_version',
    inExtension((x) => (x.domain_version = 'x'.repeat(257))),
    'bad_value',
    worldFile,
    '/x-svc/domain_version',
  ],
  [
    'another version',
    inExtension((x) => (x.version = 2)),
    'bad_value',
    worldFile,
    '/x-svc/version',
  ],
  [
    'a package with more keys',
    inExtension((x) => (x.package.url = 'u')),
    'unknown_key',
    worldFile,
    '/x-svc/package/url',
  ],
  [
    'a package without id',
    inExtension((x) => delete x.package.id),
    'missing_key',
    worldFile,
    '/x-svc/package/id',
  ],
];

const schemaRules: Refusal[] = [
  [
    'a remote reference',
    inCardFields((p) => (p.author.$ref = 'https://x.example/s.json#/$defs/A')),
    'bad_reference',
    worldFile,
    `${cardFields}/author/$ref`,
  ],
  [
    'a reference to a missing file',
    inCardFields((p) => (p.author.$ref = 'persons.json#/$defs/Person')),
    'bad_reference',
    worldFile,
    `${cardFields}/author/$ref`,
  ],
  [
    'a reference out of the folder',
    inCardFields((p) => (p.author.$ref = '../people.json#/$defs/Person')),
    'bad_reference',
    worldFile,
    `${cardFields}/author/$ref`,
  ],
  [
    'a reference to no definition',
    inCardFields((p) => (p.id.$ref = '#/$defs/Ident')),
    'bad_reference',
    worldFile,
    `${cardFields}/id/$ref`,
  ],
  [
    'a reference into a definition',
    inCardFields((p) => (p.title = { $ref: '#/$defs/Card/properties/title' })),
    'bad_reference',
    worldFile,
    `${cardFields}/title/$ref`,
  ],
  [
    'a bad reference in a sibling',
    (w) => (w.json[people].$defs.Person.properties.login.$ref = '#/$defs/Logn'),
    'bad_reference',
    people,
    '/$defs/Person/properties/login/$ref',
  ],
  [
    'a circle of references',
    inWorld((d) => (d.$defs.Id = { allOf: [{ $ref: '#/$defs/Id' }] })),
    'reference_cycle',
    worldFile,
    '/$defs/Id',
  ],
  [
    'schemas that multiply',
    inWorld((d) => {
      for (let i = 0; i < 11; i += 1) {
        const next = { $ref: i === 10 ? '#/$defs/Id' : `#/$defs/D${i + 1}` };
        d.$defs[`D${i}`] = { allOf: [next, next] };
      }
    }),
    'schema_too_complex',
    worldFile,
    '/$defs/D0',
  ],
  [
    'a chain of definitions without end',
    inWorld((d) => {
      for (let i = 0; i < 150; i += 1) {
        d.$defs[`D${i}`] = { properties: { x: { $ref: `#/$defs/D${i + 1}` } } };
      }
      d.$defs.D150 = { $ref: '#/$defs/Id' };
    }),
    'schema_too_complex',
    worldFile,
    '/$defs/D0',
  ],
  [
    'too many definitions',
    inWorld((d) => {
      for (let i = 0; i < languageLimits.definitions; i += 1) d.$defs[`D${i}`] = true;
    }),
    'too_many',
    worldFile,
    '/$defs',
  ],
  [
    'an unknown keyword',
    inCardFields((p) => (p.title.minLenght = 1)),
    'unknown_keyword',
    worldFile,
    `${cardFields}/title/minLenght`,
  ],
  [
    'a keyword of another dialect',
    inCardFields((p) => (p.title.nullable = true)),
    'unsupported_keyword',
    worldFile,
    `${cardFields}/title/nullable`,
  ],
  [
    'a keyword with a bad value',
    inCardFields((p) => (p.title.minLength = -1)),
    'bad_value',
    worldFile,
    `${cardFields}/title/minLength`,
  ],
  [
    'an unknown type',
    inCardFields((p) => (p.title.type = 'text')),
    'bad_value',
    worldFile,
    `${cardFields}/title/type`,
  ],
  [
    'a schema that is none',
    inCardFields((p) => (p.labels.items = 'string')),
    'wrong_type',
    worldFile,
    `${cardFields}/labels/items`,
  ],
  [
    'a pattern that RE2 has not',
    inCardFields((p) => (p.code.pattern = '(?=a)')),
    'bad_pattern',
    worldFile,
    `${cardFields}/code/pattern`,
  ],
  [
    'a key pattern that RE2 has not',
    inWorld((d) => (d.$defs.Cover.patternProperties = { '(a)\\1': true })),
    'bad_pattern',
    worldFile,
    '/$defs/Cover/patternProperties/(a)\\1',
  ],
  [
    'a definition with a bad name',
    inWorld((d) => (d.$defs['a/b'] = {})),
    'bad_name',
    worldFile,
    '/$defs/a~1b',
  ],
  [
    'a nested field that objects inherit',
    inWorld((d) => (d.$defs.Cover.properties.constructor = {})),
    'reserved_name',
    worldFile,
    '/$defs/Cover/properties/constructor',
  ],
];

const entityRules: Refusal[] = [
  [
    'no entities',
    (w) => {
      w.json[worldFile]['x-svc'].entities = {};
      w.json[worldFile]['x-svc'].tools = {};
      w.json = { [worldFile]: w.json[worldFile], [people]: w.json[people] };
      w.text = { [environment]: w.text[environment]?.replace(/serve = .*/, 'serve = []') ?? '' };
    },
    'bad_value',
    worldFile,
    '/x-svc/entities',
  ],
  [
    'a shape that is not an object',
    inExtension((x) => (x.entities.lists.schema.type = ['object', 'null'])),
    'not_closed',
    worldFile,
    `${lists}/schema/type`,
  ],
  [
    'an open shape',
    inExtension((x) => delete x.entities.lists.schema.additionalProperties),
    'not_closed',
    worldFile,
    `${lists}/schema/additionalProperties`,
  ],
  [
    'an open shape behind a reference',
    inWorld((d) => (d.$defs.Card.additionalProperties = true)),
    'not_closed',
    worldFile,
    '/$defs/Card/additionalProperties',
  ],
  [
    'a shape with key patterns',
    inExtension((x) => (x.entities.lists.schema.patternProperties = { '^x': true })),
    'not_closed',
    worldFile,
    `${lists}/schema/patternProperties`,
  ],
  [
    'a composed shape',
    inExtension((x) => (x.entities.lists.schema.allOf = [true])),
    'composed_root',
    worldFile,
    `${lists}/schema/allOf`,
  ],
  [
    'a shape beside a reference',
    inCards((c) => (c.schema.required = ['id'])),
    'composed_root',
    worldFile,
    `${cards}/schema/required`,
  ],
  [
    'an empty primary key',
    inExtension((x) => (x.entities.cards.primary_key = [])),
    'bad_value',
    worldFile,
    `${cards}/primary_key`,
  ],
  [
    'a key field twice',
    inCards((c) => (c.primary_key = ['id', 'id'])),
    'duplicate',
    worldFile,
    `${cards}/primary_key/1`,
  ],
  [
    'a key field that is no field',
    inCards((c) => (c.primary_key = ['key'])),
    'unknown_field',
    worldFile,
    `${cards}/primary_key/0`,
  ],
  [
    'a nested key field',
    inCards((c) => (c.primary_key = ['/author/login'])),
    'unknown_field',
    worldFile,
    `${cards}/primary_key/0`,
  ],
  [
    'a key field that is not required',
    inWorld((d) => d.$defs.Card.required.shift()),
    'bad_primary_key',
    worldFile,
    `${cards}/primary_key/0`,
  ],
  [
    'a nullable key field',
    inCardFields((p) => (p.id = { type: ['integer', 'null'] })),
    'bad_primary_key',
    worldFile,
    `${cards}/primary_key/0`,
  ],
  [
    'a key field of another type',
    inCardFields((p) => (p.id = { type: 'number' })),
    'bad_primary_key',
    worldFile,
    `${cards}/primary_key/0`,
  ],
  [
    'a dotted unique key',
    inCards((c) => (c.unique = [['author.login']])),
    'bad_unique',
    worldFile,
    `${cards}/unique/0/0`,
  ],
  [
    'a unique key that is no field',
    inCards((c) => (c.unique = [['/author/id']])),
    'unknown_field',
    worldFile,
    `${cards}/unique/0/0`,
  ],
  [
    'a unique key that is no scalar',
    inCards((c) => (c.unique = [['labels']])),
    'bad_unique',
    worldFile,
    `${cards}/unique/0/0`,
  ],
  [
    'an empty unique list',
    inCards((c) => (c.unique = [[]])),
    'bad_value',
    worldFile,
    `${cards}/unique/0`,
  ],
  [
    'an entity with a bad name',
    inExtension((x) => (x.entities['card-s'] = x.entities.lists)),
    'bad_name',
    worldFile,
    '/x-svc/entities/card-s',
  ],
  [
    'an entity with an underscore before it',
    inExtension((x) => (x.entities._lists = x.entities.lists)),
    'bad_name',
    worldFile,
    '/x-svc/entities/_lists',
  ],
  [
    'an entity with a reserved prefix',
    inExtension((x) => (x.entities.SVC_lists = x.entities.lists)),
    'reserved_name',
    worldFile,
    '/x-svc/entities/SVC_lists',
  ],
  [
    'an entity that objects inherit',
    inExtension((x) => (x.entities.constructor = x.entities.lists)),
    'reserved_name',
    worldFile,
    '/x-svc/entities/constructor',
  ],
  [
    'entities that differ by case',
    inExtension((x) => (x.entities.Lists = x.entities.lists)),
    'name_collision',
    worldFile,
    '/x-svc/entities/Lists',
  ],
  [
    'a field with a bad name',
    inCardFields((p) => (p['due-on'] = {})),
    'bad_name',
    worldFile,
    `${cardFields}/due-on`,
  ],
  [
    'a field with a reserved prefix',
    inCardFields((p) => (p.sqlite_x = {})),
    'reserved_name',
    worldFile,
    `${cardFields}/sqlite_x`,
  ],
  [
    'a field of the store',
    inCardFields((p) => (p.payload = {})),
    'reserved_name',
    worldFile,
    `${cardFields}/payload`,
  ],
  [
    'the key column of the store',
    inCardFields((p) => (p._key = {})),
    'reserved_name',
    worldFile,
    `${cardFields}/_key`,
  ],
  [
    'fields that differ by case',
    inCardFields((p) => (p.Title = {})),
    'name_collision',
    worldFile,
    `${cardFields}/Title`,
  ],
  [
    'an unknown key of an entity',
    inCards((c) => (c.uniqe = [])),
    'unknown_key',
    worldFile,
    `${cards}/uniqe`,
  ],
  [
    'another on_delete',
    inCards((c) => (c.relationships[0].on_delete = 'cascade')),
    'bad_value',
    worldFile,
    `${cards}/relationships/0/on_delete`,
  ],
  [
    'a relationship without on_delete',
    inCards((c) => delete c.relationships[0].on_delete),
    'missing_key',
    worldFile,
    `${cards}/relationships/0/on_delete`,
  ],
  [
    'a relationship to nothing',
    inCards((c) => (c.relationships[0].target = 'list')),
    'unknown_entity',
    worldFile,
    `${cards}/relationships/0/target`,
  ],
  [
    'a relationship of no field',
    inCards((c) => (c.relationships[0].fields = ['list'])),
    'unknown_field',
    worldFile,
    `${cards}/relationships/0/fields/0`,
  ],
  [
    'a relationship of a nested field',
    inCards((c) => (c.relationships[0].fields = ['author.login'])),
    'bad_relationship',
    worldFile,
    `${cards}/relationships/0/fields/0`,
  ],
  [
    'a relationship with too many fields',
    inCards((c) => (c.relationships[0].fields = ['list_id', 'id'])),
    'bad_relationship',
    worldFile,
    `${cards}/relationships/0/fields`,
  ],
  [
    'a relationship of another type',
    inCards((c) => (c.relationships[0].fields = ['title'])),
    'bad_relationship',
    worldFile,
    `${cards}/relationships/0/fields/0`,
  ],
  [
    'one tuple with two targets',
    inCards((c) => c.relationships.push({ ...c.relationships[0], target: 'cards' })),
    'bad_relationship',
    worldFile,
    `${cards}/relationships/1/fields`,
  ],
  [
    'too many entities',
    inExtension((x) => {
      for (let i = 0; i < languageLimits.entities; i += 1)
        x.entities[`more_${i}`] = x.entities.lists;
    }),
    'too_many',
    worldFile,
    '/x-svc/entities',
  ],
  [
    'too many fields',
    inCardFields((p) => {
      for (let i = 0; i < languageLimits.fieldsPerEntity; i += 1) p[`more_${i}`] = true;
    }),
    'too_many',
    worldFile,
    cardFields,
  ],
];

const toolRules: Refusal[] = [
  [
    'a tool that is not served',
    replace(environment, '"get_card", ', ''),
    'tool_not_served',
    worldFile,
    '/x-svc/tools/get_card',
  ],
  [
    'a tool that is not declared',
    replace(environment, '"get_card", ', '"get_card", "get_cards", '),
    'tool_not_declared',
    environment,
    '/tools/serve/3',
  ],
  [
    'a tool served twice',
    replace(environment, '"get_card", ', '"get_card", "get_card", '),
    'duplicate',
    environment,
    '/tools/serve/3',
  ],
  [
    'a tool without input',
    inExtension((x) => delete x.tools.summarize.input),
    'missing_key',
    worldFile,
    '/x-svc/tools/summarize/input',
  ],
  [
    'a tool without output',
    inExtension((x) => delete x.tools.summarize.output),
    'missing_key',
    worldFile,
    '/x-svc/tools/summarize/output',
  ],
  [
    'a tool whose input is a list',
    inExtension((x) => (x.tools.summarize.input = { type: 'array' })),
    'type_mismatch',
    worldFile,
    '/x-svc/tools/summarize/input',
  ],
  [
    'a tool that nothing answers',
    put('tools.py', '# def summarize():\n'),
    'unimplemented_tool',
    worldFile,
    '/x-svc/tools/summarize',
  ],
  [
    'a tool with two functions',
    append('tools.ts', 'export const summarize = async () => ({});\n'),
    'ambiguous_tool',
    worldFile,
    '/x-svc/tools/summarize',
  ],
  [
    "a tool without its operation's argument",
    inExtension(
      (x) =>
        (x.tools.get_card.input = {
          type: 'object',
          additionalProperties: false,
          properties: { id: {} },
        }),
    ),
    'unknown_argument',
    worldFile,
    '/x-svc/tools/get_card/input',
  ],
  [
    'a tool with a bad name',
    (w) => {
      const { tools } = w.json[worldFile]['x-svc'];
      tools['get card'] = tools.get_card;
    },
    'bad_name',
    worldFile,
    '/x-svc/tools/get card',
  ],
];

const environmentRules: Refusal[] = [
  [
    'no [schema]',
    replace(environment, '[schema]\nlanguage = "svc-world/1"', ''),
    'missing_key',
    environment,
    '/schema',
  ],
  [
    'another language',
    replace(environment, 'svc-world/1', 'svc-world/2'),
    'bad_value',
    environment,
    '/schema/language',
  ],
  [
    'no [environment]',
    replace(
      environment,
      '[environment]\nname = "Board"\nkind = "mock-tools"\ndb = "sqlite"\nconnector = "custom"',
      '',
    ),
    'missing_key',
    environment,
    '/environment',
  ],
  [
    '[env] and [environment]',
    append(environment, '[env]\nname = "b"\nkind = "mock-tools"\n'),
    'duplicate',
    environment,
    '/env',
  ],
  [
    'another kind',
    replace(environment, 'mock-tools', 'real'),
    'bad_value',
    environment,
    '/environment/kind',
  ],
  [
    'another engine',
    replace(environment, 'engine = "sqlite"', 'engine = "postgres"'),
    'bad_value',
    environment,
    '/db/engine',
  ],
  [
    'another db',
    replace(environment, 'db = "sqlite"', 'db = "postgres"'),
    'bad_value',
    environment,
    '/environment/db',
  ],
  [
    'db.path',
    replace(environment, '[db]', '[db]\npath = "x"'),
    'unexpected_key',
    environment,
    '/db/path',
  ],
  [
    'db.schema',
    replace(environment, '[db]', '[db]\nschema = "x"'),
    'unexpected_key',
    environment,
    '/db/schema',
  ],
  [
    'db.seed',
    replace(environment, '[db]', '[db]\nseed = "x"'),
    'unexpected_key',
    environment,
    '/db/seed',
  ],
  [
    'no serve',
    replace(environment, 'serve = ["summarize", "cards.archive", "get_card", "list_cards"]', ''),
    'missing_key',
    environment,
    '/tools/serve',
  ],
  [
    'an unknown table',
    append(environment, '[tool]\nserve = []\n'),
    'unknown_key',
    environment,
    '/tool',
  ],
  [
    'tests on push',
    replace(environment, 'on_push = []', 'on_push = ["tests"]'),
    'unsupported_key',
    environment,
    '/actions/on_push/0',
  ],
  [
    'dependencies',
    append(environment, '[dependencies]\nhr = "people@3"\n'),
    'unsupported_key',
    environment,
    '/dependencies',
  ],
  [
    'verifier tasks',
    append(environment, '[[tasks]]\nname = "t"\n'),
    'unsupported_key',
    environment,
    '/tasks',
  ],
];

const authRules: Refusal[] = [
  [
    'no scheme',
    replace(connector, 'scheme = "header"\nname = "X-Api-Key"\nsecret_env = "BOARD_KEY"\n', ''),
    'missing_key',
    connector,
    '/auth/scheme',
  ],
  [
    'another scheme',
    replace(
      connector,
      'scheme = "header"\nname = "X-Api-Key"\nsecret_env = "BOARD_KEY"\n',
      'scheme = "digest"\n',
    ),
    'bad_value',
    connector,
    '/auth/scheme',
  ],
  [
    'a header scheme without name',
    replace(connector, 'name = "X-Api-Key"\n', ''),
    'missing_key',
    connector,
    '/auth/name',
  ],
  [
    'a bearer with a name',
    replace(connector, '"header"', '"bearer"'),
    'unexpected_key',
    connector,
    '/auth/name',
  ],
  [
    'no secret_env',
    replace(connector, 'secret_env = "BOARD_KEY"\n', ''),
    'missing_key',
    connector,
    '/auth/secret_env',
  ],
  [
    'a secret in secret_env',
    replace(connector, '"BOARD_KEY"', '"s3cr3t value"'),
    'bad_value',
    connector,
    '/auth/secret_env',
  ],
  [
    'a header that carries the secret already',
    replace(connector, 'X-Account', 'x-api-key'),
    'duplicate',
    connector,
    '/auth/headers/x-api-key',
  ],
  [
    'a scope without oauth2',
    replace(connector, '[auth]', '[auth]\nscope = "all"'),
    'unexpected_key',
    connector,
    '/auth/scope',
  ],
  [
    'a token_url without oauth2',
    replace(connector, '[auth]', '[auth]\ntoken_url = "/t"'),
    'unexpected_key',
    connector,
    '/auth/token_url',
  ],
  [
    'a client_id_env without oauth2',
    replace(connector, '[auth]', '[auth]\nclient_id_env = "ID"'),
    'unexpected_key',
    connector,
    '/auth/client_id_env',
  ],
  [
    'oauth2 without client_id_env',
    replace(connector, 'scheme = "header"\nname = "X-Api-Key"', 'scheme = "oauth2"'),
    'missing_key',
    connector,
    '/auth/client_id_env',
  ],
];

const connectorRules: Refusal[] = [
  [
    'no [connector]',
    replace(
      connector,
      '[connector]\nslug = "board"\nbase_url = "https://api.board.example/v1"',
      '',
    ),
    'missing_key',
    connector,
    '/connector',
  ],
  [
    'a slug in capitals',
    replace(connector, '"board"', '"Board"'),
    'bad_value',
    connector,
    '/connector/slug',
  ],
  [
    'a base_url with a query',
    replace(connector, '/v1"', '/v1?a=1"'),
    'bad_value',
    connector,
    '/connector/base_url',
  ],
  [
    'a base_url of another scheme',
    replace(connector, 'https:', 'ftp:'),
    'bad_value',
    connector,
    '/connector/base_url',
  ],
  [
    'an unknown key',
    replace(connector, 'base_url', 'region = "eu"\nbase_url'),
    'unknown_key',
    connector,
    '/connector/region',
  ],
  [
    'capture',
    append(connector, '[capture]\nmax_pages = 3\n'),
    'unsupported_key',
    connector,
    '/capture',
  ],
  [
    'a user interface',
    append(connector, '[ui]\nstatic = "ui"\n'),
    'unsupported_key',
    connector,
    '/ui',
  ],
  [
    'webhooks',
    append(connector, '[webhooks]\nsubscriptions = "hooks"\n'),
    'unsupported_key',
    connector,
    '/webhooks',
  ],
  [
    'paging of the world',
    replace(connector, '[api]', '[api]\npage = "cursor"'),
    'unsupported_key',
    connector,
    '/api/page',
  ],
  [
    'paging of a route',
    replace(connector, 'single = true', 'page = "none"'),
    'unsupported_key',
    connector,
    '/operations/0/api/page',
  ],
  [
    'a function before routes',
    replace(connector, '[api]', '[api]\nbefore = "check"'),
    'unsupported_key',
    connector,
    '/api/before',
  ],
  [
    'ingest',
    append(connector, '[operations.ingest]\ndrop = ["x"]\n'),
    'unsupported_key',
    connector,
    '/operations/6/ingest',
  ],
  [
    'an error status',
    replace(connector, '[api]', '[api]\ninvalid_status = 200'),
    'bad_value',
    connector,
    '/api/invalid_status',
  ],
  [
    "a route's error status",
    replace(connector, '410', '600'),
    'bad_value',
    connector,
    '/operations/1/api/not_found_status',
  ],
  [
    'an error body that is not JSON',
    replace(connector, `'{"message":"gone"}'`, "'<gone/>'"),
    'bad_value',
    connector,
    '/api/not_found',
  ],
  [
    'a missing handlers module',
    drop('api/handlers.py'),
    'missing_file',
    connector,
    '/api/handlers',
  ],
  [
    'a handlers module out of the world',
    replace(connector, '[api]', '[api]\nhandlers = "../h.py"'),
    'bad_value',
    connector,
    '/api/handlers',
  ],
];

const operationRules: Refusal[] = [
  [
    'a name in capitals',
    replace(connector, 'name = "whoami"', 'name = "whoAmI"'),
    'bad_value',
    connector,
    '/operations/5/name',
  ],
  [
    'a name twice',
    replace(connector, 'name = "whoami"', 'name = "close_card"'),
    'duplicate',
    connector,
    '/operations/5/name',
  ],
  [
    'another method',
    replace(connector, 'path = "/me"', 'path = "/me"\nmethod = "TRACE"'),
    'bad_value',
    connector,
    '/operations/5/method',
  ],
  [
    'a path without a slash',
    replace(connector, '"/me"', '"me"'),
    'bad_value',
    connector,
    '/operations/5/path',
  ],
  [
    'a path with a query',
    replace(connector, '"/me"', '"/me?x=1"'),
    'bad_value',
    connector,
    '/operations/5/path',
  ],
  [
    'a path that goes up',
    replace(connector, '"/me"', '"/me/../x"'),
    'bad_value',
    connector,
    '/operations/5/path',
  ],
  [
    'an argument inside a segment',
    replace(connector, '"/me"', '"/me/{a}.json"'),
    'bad_value',
    connector,
    '/operations/5/path',
  ],
  [
    'an argument twice',
    replace(connector, '"/me"', '"/me/{a}/{a}"'),
    'bad_value',
    connector,
    '/operations/5/path',
  ],
  [
    'a parameter that is a path argument',
    replace(connector, 'path = "/me"', 'path = "/me/{a}"\nparams = ["a"]'),
    'duplicate',
    connector,
    '/operations/5/params/0',
  ],
  [
    'two routes for one request',
    replace(connector, 'path = "/me"', 'path = "/cards/{id}"'),
    'duplicate_route',
    connector,
    '/operations/5/path',
  ],
  [
    'an unknown entity',
    replace(connector, 'path = "/me"', 'path = "/me"\nentity = "users"'),
    'unknown_entity',
    connector,
    '/operations/5/entity',
  ],
  [
    'no entity',
    replace(connector, 'action = "handler"\nhandler = "who_am_i"', ''),
    'missing_key',
    connector,
    '/operations/5/entity',
  ],
  [
    'another action',
    replace(connector, '"delete"', '"remove"'),
    'bad_value',
    connector,
    '/operations/4/api/action',
  ],
  [
    'an update without a filter',
    replace(connector, 'action = "update"\nfilter = { card_id = "id" }', 'action = "update"'),
    'missing_key',
    connector,
    '/operations/3/api/filter',
  ],
  [
    'a delete without a filter',
    replace(connector, 'action = "delete"\nfilter = { card_id = "id" }', 'action = "delete"'),
    'missing_key',
    connector,
    '/operations/4/api/filter',
  ],
  [
    'a filter of an unknown argument',
    replace(connector, '{ card_id = "id" }\nsingle', '{ card = "id" }\nsingle'),
    'unknown_argument',
    connector,
    '/operations/0/api/filter/card',
  ],
  [
    'a filter of an unknown field',
    replace(connector, '{ card_id = "id" }\nsingle', '{ card_id = "number" }\nsingle'),
    'unknown_field',
    connector,
    '/operations/0/api/filter/card_id',
  ],
  [
    'a filter of an unknown inner field',
    replace(connector, '"/author/login"', '"/author/lgin"'),
    'unknown_field',
    connector,
    '/operations/1/api/filter/login',
  ],
  [
    'a filter into a list by name',
    replace(connector, '"labels", title', '"labels.name", title'),
    'unknown_field',
    connector,
    '/operations/1/api/filter/label',
  ],
  [
    'a filter with an empty segment',
    replace(connector, '"/author/login"', '"author..login"'),
    'bad_value',
    connector,
    '/operations/1/api/filter/login',
  ],
  [
    'a filter of an object',
    replace(connector, '"/author/login"', '"author"'),
    'type_mismatch',
    connector,
    '/operations/1/api/filter/login',
  ],
  [
    'a match without a filter',
    replace(connector, 'match = { label', 'match = { lable = "equals", label'),
    'unknown_argument',
    connector,
    '/operations/1/api/match/lable',
  ],
  [
    'another match',
    replace(connector, 'title = "prefix"', 'title = "regex"'),
    'bad_value',
    connector,
    '/operations/1/api/match/title',
  ],
  [
    'a prefix of a number',
    replace(connector, 'title = "prefix"', 'ids = "prefix"'),
    'type_mismatch',
    connector,
    '/operations/1/api/filter/ids',
  ],
  [
    'a handler without a function',
    replace(connector, 'handler = "who_am_i"\n', ''),
    'missing_key',
    connector,
    '/operations/5/api/handler',
  ],
  [
    'a function without a handler',
    replace(connector, 'action = "update"', 'action = "update"\nhandler = "who_am_i"'),
    'unexpected_key',
    connector,
    '/operations/3/api/handler',
  ],
  [
    'an unknown function',
    replace(connector, '"who_am_i"', '"whoami"'),
    'unknown_function',
    connector,
    '/operations/5/api/handler',
  ],
  [
    'a status that is not 2xx',
    replace(connector, 'status = 203', 'status = 302'),
    'bad_value',
    connector,
    '/operations/5/api/status',
  ],
  [
    'a body on a read',
    replace(connector, 'single = true', 'body = { title = "t" }'),
    'unexpected_key',
    connector,
    '/operations/0/api/body',
  ],
  [
    'defaults on a delete',
    replace(connector, 'action = "delete"', 'action = "delete"\ndefaults = { state = "done" }'),
    'unexpected_key',
    connector,
    '/operations/4/api/defaults',
  ],
  [
    'generate on a read',
    replace(connector, 'single = true', 'generate = { title = "uuid" }'),
    'unexpected_key',
    connector,
    '/operations/0/api/generate',
  ],
  [
    'a body into an unknown field',
    replace(connector, '"author.login" = "by"', '"author.name" = "by"'),
    'unknown_field',
    connector,
    '/operations/2/api/body/author.name',
  ],
  [
    'a body from an empty path',
    replace(connector, '"by"', '""'),
    'bad_value',
    connector,
    '/operations/2/api/body/author.login',
  ],
  [
    'a default that the field cannot have',
    replace(connector, 'state = "open"', 'state = "opened"'),
    'type_mismatch',
    connector,
    '/operations/2/api/defaults/state',
  ],
  [
    'a default of another type',
    replace(connector, 'state = "open"', 'state = 1'),
    'type_mismatch',
    connector,
    '/operations/2/api/defaults/state',
  ],
  [
    'a default of an inner field',
    replace(connector, 'estimate = 1.5', '"cover.url" = "u"'),
    'bad_value',
    connector,
    '/operations/2/api/defaults/cover.url',
  ],
  [
    'another generator',
    replace(connector, '"now"', '"today"'),
    'bad_value',
    connector,
    '/operations/2/api/generate/created_at',
  ],
  [
    'a generator of another type',
    replace(connector, 'id = "int"', 'id = "uuid"'),
    'type_mismatch',
    connector,
    '/operations/2/api/generate/id',
  ],
  [
    'a default and a generator',
    replace(connector, 'estimate = 1.5', 'id = 5'),
    'duplicate',
    connector,
    '/operations/2/api/generate/id',
  ],
  [
    'a sample',
    replace(connector, 'single = true', 'sample = { card_id = 1 }'),
    'unsupported_key',
    connector,
    '/operations/0/api/sample',
  ],
];

const redactRules: Refusal[] = [
  [
    'a field in two modes',
    replace(connector, 'drop = ["author.email"]', 'drop = ["login"]'),
    'two_modes',
    connector,
    '/redact/hash/0',
  ],
  [
    'a path that starts with an entity',
    replace(connector, '"author.email"', '"cards.code"'),
    'entity_path',
    connector,
    '/redact/drop/0',
  ],
  [
    'a rounded path',
    replace(connector, 'estimate = 1 }', '"a.b" = 1 }'),
    'bad_value',
    connector,
    '/redact/round/a.b',
  ],
  [
    'too many decimals',
    replace(connector, 'estimate = 1 }', 'estimate = 11 }'),
    'bad_value',
    connector,
    '/redact/round/estimate',
  ],
  [
    'another mode',
    replace(connector, 'hash =', 'hide ='),
    'unknown_key',
    connector,
    '/redact/hide',
  ],
];

const rowRules: Refusal[] = [
  [
    'a row that breaks the shape',
    (w) => (w.json['data/cards.json'][0].state = 'closed'),
    'bad_row',
    'data/cards.json',
    '/0/state',
  ],
  [
    'a row without a field',
    (w) => delete w.json['data/cards.json'][1].title,
    'bad_row',
    'data/cards.json',
    '/1/title',
  ],
  [
    'a row that breaks a pattern',
    (w) => (w.json['data/cards.json'][1].code = 'ab-1'),
    'bad_row',
    'data/cards.json',
    '/1/code',
  ],
  [
    'a row that is none',
    (w) => w.json['data/cards.json'].push(5),
    'bad_row',
    'data/cards.json',
    '/2',
  ],
  [
    'rows that are no list',
    (w) => (w.json['scenarios/finish/seed/lists.json'] = {}),
    'wrong_type',
    'scenarios/finish/seed/lists.json',
    '',
  ],
  [
    'rows of no entity',
    (w) => (w.json['data/card.json'] = []),
    'unknown_entity',
    'data/card.json',
    '',
  ],
  [
    'a key twice',
    (w) => (w.json['data/cards.json'][1].id = 1),
    'duplicate_row',
    'data/cards.json',
    '/1',
  ],
  [
    'a unique list twice',
    (w) => (w.json['data/lists.json'][1].name = 'Next'),
    'duplicate_row',
    'data/lists.json',
    '/1',
  ],
  [
    'a nested unique list twice',
    (w) => (w.json['data/cards.json'][1].title = 'Card 1'),
    'duplicate_row',
    'data/cards.json',
    '/1',
  ],
  [
    'a reference to nothing',
    (w) => (w.json['data/cards.json'][1].list_id = 9),
    'missing_reference',
    'data/cards.json',
    '/1/list_id',
  ],
];

const taskRules: Refusal[] = [
  ['no scenario.toml', drop(scenario), 'missing_file', scenario, ''],
  [
    'a misspelt file',
    put('scenarios/finish/checks.py', ''),
    'unsupported_file',
    'scenarios/finish/checks.py',
    '',
  ],
  [
    'a file beside the folders',
    put('scenarios/finish.toml', ''),
    'unsupported_file',
    'scenarios/finish.toml',
    '',
  ],
  [
    'an unknown key',
    replace(scenario, 'description', 'descripton'),
    'unknown_key',
    scenario,
    '/descripton',
  ],
  [
    'another seed mode',
    replace(scenario, '"append"', '"merge"'),
    'bad_value',
    scenario,
    '/seed/mode',
  ],
  [
    'another grader',
    replace(scenario, '"assertions"', '"model"'),
    'bad_value',
    scenario,
    '/grader/kind',
  ],
  [
    'a grader without checks',
    put(scenario, '[grader]\nkind = "assertions"\nchecks = []\n'),
    'bad_value',
    scenario,
    '/grader/checks',
  ],
  [
    'two graders',
    put('scenarios/finish/checks/verify.py', ''),
    'ambiguous_grader',
    scenario,
    '/grader',
  ],
  [
    'a check twice',
    replace(scenario, 'it was closed over the API', 'the card is done'),
    'duplicate',
    scenario,
    '/grader/checks/1/name',
  ],
  [
    'a check of no entity',
    replace(scenario, '"cards"', '"card"'),
    'unknown_entity',
    scenario,
    '/grader/checks/0/entity',
  ],
  [
    'a check of no field',
    replace(scenario, 'author.login', 'author.name'),
    'unknown_field',
    scenario,
    '/grader/checks/0/where/author/name',
  ],
  [
    'a check of no field of the ledger',
    replace(scenario, 'via = "api"', 'kind = "api"'),
    'unknown_field',
    scenario,
    '/grader/checks/1/where/kind',
  ],
  [
    'a check that no row can pass',
    replace(scenario, '["done"]', '["done", "closed"]'),
    'type_mismatch',
    scenario,
    '/grader/checks/0/where/state',
  ],
  [
    'a check of a list',
    replace(scenario, 'id = 3', 'labels = "a"'),
    'type_mismatch',
    scenario,
    '/grader/checks/0/where/labels',
  ],
  [
    'a check by an object in a list',
    replace(scenario, '["done"]', '[{ a = 1 }]'),
    'wrong_type',
    scenario,
    '/grader/checks/0/where/state',
  ],
  [
    'a negative count',
    replace(scenario, 'count = 1', 'count = -1'),
    'bad_value',
    scenario,
    '/grader/checks/0/count',
  ],
  [
    'two tasks of a name',
    replace(scenario, 'description', 'name = "verified-by-code"\ndescription'),
    'duplicate',
    'scenarios/verified/scenario.toml',
    '/name',
  ],
  [
    'a seed row that breaks the shape',
    (w) => (w.json['scenarios/finish/seed/cards.json'][0].id = '3'),
    'bad_row',
    'scenarios/finish/seed/cards.json',
    '/0/id',
  ],
  [
    "a seed row with a key of the world's",
    (w) => (w.json['scenarios/finish/seed/cards.json'][0].id = 2),
    'duplicate_row',
    'scenarios/finish/seed/cards.json',
    '/0',
  ],
  [
    'a seed row that refers to nothing',
    (w) => (w.json['scenarios/finish/seed/cards.json'][0].list_id = 9),
    'missing_reference',
    'scenarios/finish/seed/cards.json',
    '/0/list_id',
  ],
  [
    "a seed that replaces rows which the world's refer to",
    (w) => {
      replaceIn(w, scenario, '"append"', '"replace"');
      delete w.json['scenarios/finish/seed/cards.json'];
      w.json['scenarios/finish/seed/lists.json'] = [{ id: 7, name: 'Other' }];
    },
    'missing_reference',
    scenario,
    '/seed/mode',
  ],
  [
    'a seed that refers to rows it replaces',
    (w) => {
      replaceIn(w, scenario, '"append"', '"replace"');
      w.json['scenarios/finish/seed/lists.json'] = [{ id: 7, name: 'Other' }];
    },
    'missing_reference',
    'scenarios/finish/seed/cards.json',
    '/0/list_id',
  ],
];

describe.each([
  ['the tree', treeRules],
  ['the notation', notationRules],
  ['schema/world.json', documentRules],
  ['schemas', schemaRules],
  ['entities', entityRules],
  ['tools', toolRules],
  ['svc-env.toml', environmentRules],
  ['[auth]', authRules],
  ['connector.toml', connectorRules],
  ['[[operations]]', operationRules],
  ['[redact]', redactRules],
  ['rows', rowRules],
  ['tasks', taskRules],
])('refused in %s', (_group, refusals) => {
  it.each(refusals)('%s', (_rule, change, code, file, pointer) => {
    const result = compileChanged(change);
    const problems = result.ok ? [] : result.problems;
    expect(problems.map((problem) => [problem.code, problem.file, problem.pointer])).toEqual([
      [code, file, pointer],
    ]);
  });
});
