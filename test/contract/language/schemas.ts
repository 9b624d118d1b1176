/** Corpus chapter about the part of JSON Schema 2020-12 that worlds support. */
import { languageLimits } from '#language/limits.ts';
import { inCardFields, inWorld, people, put } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const schemasRules: Chapter = {
  title: 'Schemas',
  rules: [
    {
      rule: 'References lead to definitions of this document or of a sibling.',
      accepts: [
        [
          'a definition that refers to itself for a part',
          inWorld((d) => (d.$defs.Cover.properties.inner = { $ref: '#/$defs/Cover' })),
        ],
      ],
      refuses: [
        [
          'a remote reference',
          'bad_reference',
          inCardFields((p) => (p.author.$ref = 'https://x.example/s.json#/$defs/A')),
        ],
        [
          'a reference to a missing file',
          'bad_reference',
          inCardFields((p) => (p.author.$ref = 'persons.json#/$defs/Person')),
        ],
        [
          'a reference to a generated file',
          'bad_reference',
          inCardFields((p) => (p.author.$ref = 'openapi.json#/$defs/Person')),
        ],
        [
          'a reference out of the folder',
          'bad_reference',
          inCardFields((p) => (p.author.$ref = '../people.json#/$defs/Person')),
        ],
        [
          'a reference to no definition',
          'bad_reference',
          inCardFields((p) => (p.id.$ref = '#/$defs/Ident')),
        ],
        [
          'a reference into a definition',
          'bad_reference',
          inCardFields((p) => (p.title = { $ref: '#/$defs/Card/properties/title' })),
        ],
        [
          'a mistake in a sibling that nothing refers to',
          'unknown_keyword',
          put('schema/spare.json', '{"$defs": {"Spare": {"typ": "string"}}}'),
        ],
        [
          'a bad reference in a sibling',
          'bad_reference',
          (w) => (w.json[people].$defs.Person.properties.login.$ref = '#/$defs/Logn'),
        ],
      ],
    },
    {
      rule: 'No schema refers to itself for the same value.',
      accepts: [
        [
          'a list of the same',
          inWorld(
            (d) =>
              (d.$defs.Cover.properties.parts = {
                type: 'array',
                items: { $ref: '#/$defs/Cover' },
              }),
          ),
        ],
      ],
      refuses: [
        [
          'a circle of references',
          'reference_cycle',
          inWorld((d) => (d.$defs.Id = { allOf: [{ $ref: '#/$defs/Id' }] })),
        ],
      ],
    },
    {
      rule: 'Schemas are bounded in how much and how deep they check.',
      accepts: [
        [
          'a hundred definitions',
          inWorld((d) => {
            for (let i = 0; i < 100; i += 1) d.$defs[`D${i}`] = true;
          }),
        ],
      ],
      refuses: [
        [
          'schemas that multiply',
          'schema_too_complex',
          inWorld((d) => {
            for (let i = 0; i < 11; i += 1) {
              const next = { $ref: i === 10 ? '#/$defs/Id' : `#/$defs/D${i + 1}` };
              d.$defs[`D${i}`] = { allOf: [next, next] };
            }
          }),
        ],
        [
          'a chain of definitions without end',
          'schema_too_complex',
          inWorld((d) => {
            for (let i = 0; i < 150; i += 1) {
              d.$defs[`D${i}`] = { properties: { x: { $ref: `#/$defs/D${i + 1}` } } };
            }
            d.$defs.D150 = { $ref: '#/$defs/Id' };
          }),
        ],
        [
          'too many definitions',
          'too_many',
          inWorld((d) => {
            for (let i = 0; i < languageLimits.definitions; i += 1) d.$defs[`D${i}`] = true;
          }),
        ],
      ],
    },
    {
      rule: 'Keywords are those of JSON Schema 2020-12; own notes begin with "x-".',
      accepts: [
        ['a note', inCardFields((p) => (p.title['x-note'] = 1))],
        [
          'every kind of keyword',
          inCardFields((p) =>
            Object.assign(p.title, {
              title: 'T',
              examples: ['a'],
              deprecated: true,
              minLength: 1,
              not: { const: '' },
            }),
          ),
        ],
      ],
      refuses: [
        ['an unknown keyword', 'unknown_keyword', inCardFields((p) => (p.title.minLenght = 1))],
        [
          'a keyword of another dialect',
          'unsupported_keyword',
          inCardFields((p) => (p.title.nullable = true)),
        ],
        ['a nested definition', 'unsupported_keyword', inCardFields((p) => (p.title.$defs = {}))],
      ],
    },
    {
      rule: 'Keywords have values that mean something.',
      accepts: [['true for a schema', inCardFields((p) => (p.labels.items = true))]],
      refuses: [
        ['a keyword with a bad value', 'bad_value', inCardFields((p) => (p.title.minLength = -1))],
        ['an unknown type', 'bad_value', inCardFields((p) => (p.title.type = 'text'))],
        ['a schema that is none', 'wrong_type', inCardFields((p) => (p.labels.items = 'string'))],
      ],
    },
    {
      rule: 'Patterns run in linear time.',
      accepts: [
        [
          'classes, groups and lazy repeats',
          inCardFields((p) => (p.code.pattern = '^(?:[A-Z]+?)-\\d{1,9}$')),
        ],
      ],
      refuses: [
        [
          'a pattern that RE2 has not',
          'bad_pattern',
          inCardFields((p) => (p.code.pattern = '(?=a)')),
        ],
        [
          'a key pattern that RE2 has not',
          'bad_pattern',
          inWorld((d) => (d.$defs.Cover.patternProperties = { '(a)\\1': true })),
        ],
        ['a pattern that is none', 'bad_pattern', inCardFields((p) => (p.code.pattern = '('))],
      ],
    },
    {
      rule: 'Definitions and nested fields have names that are safe to use.',
      accepts: [['a definition with dots and dashes', inWorld((d) => (d.$defs['a.b-c'] = {}))]],
      refuses: [
        ['a definition with a bad name', 'bad_name', inWorld((d) => (d.$defs['a/b'] = {}))],
        [
          'a nested field that objects inherit',
          'reserved_name',
          inWorld((d) => (d.$defs.Cover.properties.constructor = {})),
        ],
      ],
    },
  ],
};
