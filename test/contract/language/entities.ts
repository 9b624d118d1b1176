/** Accepted and refused worlds for the rules of entities: row shapes, keys, unique lists and names. */
import { languageLimits } from '#language/limits.ts';
import {
  asItIs,
  environment,
  inCardFields,
  inCards,
  inExtension,
  inWorld,
  onlyModel,
  people,
  worldFile,
} from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const entitiesRules: Chapter = {
  title: 'Entities',
  rules: [
    {
      rule: 'There is at least one entity, and not too many of them or of their fields.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'no entities',
          'bad_value',
          (w) => {
            w.json[worldFile]['x-svc'].entities = {};
            w.json[worldFile]['x-svc'].tools = {};
            w.json = { [worldFile]: w.json[worldFile], [people]: w.json[people] };
            const [manifest = ''] = w.text[environment]?.split('[actions]') ?? [];
            w.text = { [environment]: manifest.replace(/serve = .*/, 'serve = []') };
          },
        ],
        [
          'too many entities',
          'too_many',
          inExtension((x) => {
            for (let i = 0; i < languageLimits.entities; i += 1)
              x.entities[`more_${i}`] = x.entities.lists;
          }),
        ],
        [
          'too many fields',
          'too_many',
          inCardFields((p) => {
            for (let i = 0; i < languageLimits.fieldsPerEntity; i += 1) p[`more_${i}`] = true;
          }),
        ],
      ],
    },
    {
      rule: 'An entity has a schema and a primary key, and knows no other keys than the four.',
      accepts: [
        [
          'neither unique lists nor relationships',
          inCards((c) => {
            delete c.unique;
            delete c.relationships;
          }),
        ],
      ],
      refuses: [
        ['an unknown key of an entity', 'unknown_key', inCards((c) => (c.uniqe = []))],
        ['no schema', 'missing_key', onlyModel(inExtension((x) => delete x.entities.hooks.schema))],
        [
          'no primary key',
          'missing_key',
          onlyModel(inExtension((x) => delete x.entities.hooks.primary_key)),
        ],
      ],
    },
    {
      rule: 'The root of a row shape is a closed object.',
      accepts: [
        [
          'a shape by reference',
          inExtension((x) => {
            x.entities.lists.schema.title = 'A list.';
          }),
        ],
      ],
      refuses: [
        [
          'a shape that is not an object',
          'not_closed',
          inExtension((x) => (x.entities.lists.schema.type = ['object', 'null'])),
        ],
        [
          'an open shape',
          'not_closed',
          inExtension((x) => delete x.entities.lists.schema.additionalProperties),
        ],
        [
          'an open shape behind a reference',
          'not_closed',
          inWorld((d) => (d.$defs.Card.additionalProperties = true)),
        ],
        [
          'a shape with key patterns',
          'not_closed',
          inExtension((x) => (x.entities.lists.schema.patternProperties = { '^x': true })),
        ],
      ],
    },
    {
      rule: 'The root of a row shape is not put together of others.',
      accepts: [
        [
          'a field that is',
          inCardFields((p) => (p.estimate = { anyOf: [{ type: 'number' }, { type: 'null' }] })),
        ],
      ],
      refuses: [
        [
          'a composed shape',
          'composed_root',
          inExtension((x) => (x.entities.lists.schema.allOf = [true])),
        ],
        [
          'a shape beside a reference',
          'composed_root',
          inCards((c) => (c.schema.required = ['id'])),
        ],
        [
          'a shape of alternatives',
          'composed_root',
          inExtension((x) => (x.entities.lists.schema.anyOf = [true])),
        ],
        [
          'a shape of one alternative',
          'composed_root',
          inExtension((x) => (x.entities.lists.schema.oneOf = [true])),
        ],
      ],
    },
    {
      rule: 'The primary key is a non-empty list of distinct direct fields.',
      accepts: [['two fields', inCards((c) => (c.primary_key = ['id', 'list_id']))]],
      refuses: [
        [
          'an empty primary key',
          'bad_value',
          inExtension((x) => (x.entities.cards.primary_key = [])),
        ],
        ['a key field twice', 'duplicate', inCards((c) => (c.primary_key = ['id', 'id']))],
        [
          'a key field that is no field',
          'unknown_field',
          inCards((c) => (c.primary_key = ['key'])),
        ],
        [
          'a nested key field',
          'unknown_field',
          inCards((c) => (c.primary_key = ['/author/login'])),
        ],
      ],
    },
    {
      rule: 'Fields of the primary key are required, strings or integers, and never null.',
      accepts: [
        [
          'a text',
          inExtension(
            (x) =>
              (x.entities.hooks.schema = {
                type: 'object',
                additionalProperties: false,
                required: ['id', 'config', 'active'],
                properties: {
                  id: { type: 'integer' },
                  config: { $ref: '#/$defs/Receiver' },
                  events: { type: 'array', items: { type: 'string' } },
                  lists: { type: 'array', items: { type: 'integer' } },
                  active: { type: 'boolean' },
                },
              }),
          ),
        ],
      ],
      refuses: [
        [
          'a key field that is not required',
          'bad_primary_key',
          inWorld((d) => d.$defs.Card.required.shift()),
        ],
        [
          'a nullable key field',
          'bad_primary_key',
          inCardFields((p) => (p.id = { type: ['integer', 'null'] })),
        ],
        [
          'a key field of another type',
          'bad_primary_key',
          inCardFields((p) => (p.id = { type: 'number' })),
        ],
      ],
    },
    {
      rule: 'Unique lists reach nested values by JSON pointer.',
      accepts: [
        ['a direct field', inCards((c) => (c.unique = [['title']]))],
        ['a nested field', inCards((c) => (c.unique = [['/author/login', '/title']]))],
      ],
      refuses: [
        ['a unique list that is none', 'wrong_type', inCards((c) => (c.unique = ['title']))],

        [
          'a unique list twice',
          'duplicate',
          inCards(
            (c) =>
              (c.unique = [
                ['title', 'code'],
                ['/title', 'code'],
              ]),
          ),
        ],
        ['the primary key once more', 'duplicate', inCards((c) => (c.unique = [['id']]))],
        [
          'a list of more fields than an index has',
          'too_many',
          inCards((c) => (c.unique = [Array.from({ length: 40 }, (_, n) => `/labels/${n}`)])),
        ],
        ['a dotted unique key', 'bad_unique', inCards((c) => (c.unique = [['author.login']]))],
        [
          'a unique key that is no field',
          'unknown_field',
          inCards((c) => (c.unique = [['/author/id']])),
        ],
        ['a unique key that is no scalar', 'bad_unique', inCards((c) => (c.unique = [['labels']]))],
        ['an empty unique list', 'bad_value', inCards((c) => (c.unique = [[]]))],
      ],
    },
    {
      rule: 'Names of entities match `[A-Za-z][A-Za-z0-9_]*`, in at most 128 characters.',
      accepts: [
        ['128 characters', inExtension((x) => (x.entities['l'.repeat(128)] = x.entities.lists))],
        [
          'capitals, digits and underscores',
          inExtension((x) => (x.entities.A1_b = x.entities.lists)),
        ],
      ],
      refuses: [
        [
          'an entity with a bad name',
          'bad_name',
          inExtension((x) => (x.entities['card-s'] = x.entities.lists)),
        ],
        [
          'an entity with an endless name',
          'bad_name',
          inExtension((x) => (x.entities['l'.repeat(129)] = x.entities.lists)),
        ],
        [
          'an entity with an underscore before it',
          'bad_name',
          inExtension((x) => (x.entities._lists = x.entities.lists)),
        ],
      ],
    },
    {
      rule: 'Entities cannot have reserved names.',
      accepts: [
        ['a prefix within', inExtension((x) => (x.entities.my_svc_lists = x.entities.lists))],
      ],
      refuses: [
        [
          'an entity with a reserved prefix',
          'reserved_name',
          inExtension((x) => (x.entities.SVC_lists = x.entities.lists)),
        ],
        [
          'an entity that objects inherit',
          'reserved_name',
          inExtension((x) => (x.entities.constructor = x.entities.lists)),
        ],
        [
          'an entity with the prefix of the tables of SQLite',
          'reserved_name',
          inExtension((x) => (x.entities.sqlite_lists = x.entities.lists)),
        ],
        [
          'an entity with the prefix of benchmarks',
          'reserved_name',
          inExtension((x) => (x.entities.benchmark_lists = x.entities.lists)),
        ],
      ],
    },
    {
      rule: 'Names of fields match `[A-Za-z_][A-Za-z0-9_]*`.',
      accepts: [['an underscore before it', inCardFields((p) => (p._due1 = {}))]],
      refuses: [['a field with a bad name', 'bad_name', inCardFields((p) => (p['due-on'] = {}))]],
    },
    {
      rule: 'Fields cannot have reserved names.',
      accepts: [['a name like one', inCardFields((p) => (p.payloads = {}))]],
      refuses: [
        ['a field with a reserved prefix', 'reserved_name', inCardFields((p) => (p.sqlite_x = {}))],
        ['a field of the store', 'reserved_name', inCardFields((p) => (p.payload = {}))],
        ['the key column of the store', 'reserved_name', inCardFields((p) => (p._key = {}))],
        [
          'a field with the prefix of the service',
          'reserved_name',
          inCardFields((p) => (p.svc_x = {})),
        ],
        [
          'a field with the prefix of benchmarks',
          'reserved_name',
          inCardFields((p) => (p.benchmark_x = {})),
        ],
      ],
    },
    {
      rule: 'No two names differ only by case.',
      accepts: [['an entity and a field of one name', inCardFields((p) => (p.cards = {}))]],
      refuses: [
        [
          'entities that differ by case',
          'name_collision',
          inExtension((x) => (x.entities.Lists = x.entities.lists)),
        ],
        ['fields that differ by case', 'name_collision', inCardFields((p) => (p.Title = {}))],
      ],
    },
  ],
};
