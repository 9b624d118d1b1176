import {
  cardFields,
  describeRefusals,
  inCardFields,
  inExtension,
  inWorld,
  people,
  type Refusal,
  worldFile,
} from '#test/support/language-refusals.ts';
import { languageLimits } from '../limits.ts';

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

describeRefusals('schema/world.json', documentRules);
describeRefusals('schemas', schemaRules);
