import { asItIs, inCardFields, inCards } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const relationshipsRules: Chapter = {
  title: 'Relationships',
  rules: [
    {
      rule: 'Relationships have all three keys, and only `restrict` on delete.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'another on_delete',
          'bad_value',
          inCards((c) => (c.relationships[0].on_delete = 'cascade')),
        ],
        [
          'a relationship without on_delete',
          'missing_key',
          inCards((c) => delete c.relationships[0].on_delete),
        ],
        [
          'a relationship without target',
          'missing_key',
          inCards((c) => delete c.relationships[0].target),
        ],
        [
          'a relationship without fields',
          'missing_key',
          inCards((c) => delete c.relationships[0].fields),
        ],
        [
          'an unknown key of a relationship',
          'unknown_key',
          inCards((c) => (c.relationships[0].on_update = 'restrict')),
        ],
      ],
    },
    {
      rule: 'A relationship leads from direct fields to the primary key of an entity.',
      accepts: [
        [
          'an entity to itself',
          (w) => {
            inCardFields((p) => (p.parent = { type: ['integer', 'null'] }))(w);
            inCards((c) =>
              c.relationships.push({ fields: ['parent'], target: 'cards', on_delete: 'restrict' }),
            )(w);
          },
        ],
      ],
      refuses: [
        [
          'a relationship to nothing',
          'unknown_entity',
          inCards((c) => (c.relationships[0].target = 'list')),
        ],
        [
          'a relationship of no field',
          'unknown_field',
          inCards((c) => (c.relationships[0].fields = ['list'])),
        ],
        [
          'a relationship of a nested field',
          'bad_relationship',
          inCards((c) => (c.relationships[0].fields = ['author.login'])),
        ],
        [
          'a relationship with too many fields',
          'bad_relationship',
          inCards((c) => (c.relationships[0].fields = ['list_id', 'id'])),
        ],
        [
          'a relationship of another type',
          'bad_relationship',
          inCards((c) => (c.relationships[0].fields = ['title'])),
        ],
      ],
    },
    {
      rule: 'One tuple of fields names one target.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'one tuple with two targets',
          'bad_relationship',
          inCards((c) => c.relationships.push({ ...c.relationships[0], target: 'cards' })),
        ],
      ],
    },
  ],
};
