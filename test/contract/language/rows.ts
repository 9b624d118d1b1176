/** Corpus chapter about the rows of `data/`, each row alone and all rows together. */

import { asItIs, inExtension, put } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const rowsRules: Chapter = {
  title: 'Rows',
  rules: [
    {
      rule: 'A file of rows is a list of rows of one entity.',
      accepts: [['no rows', (w) => (w.json['data/hooks.json'] = [])]],
      refuses: [
        ['a row that is none', 'bad_row', (w) => w.json['data/cards.json'].push(5)],
        [
          'rows that are no list',
          'wrong_type',
          (w) => (w.json['scenarios/finish/seed/lists.json'] = {}),
        ],
        ['rows of no entity', 'unknown_entity', (w) => (w.json['data/card.json'] = [])],
        [
          'a row with a key twice',
          'duplicate_key',
          put('data/hooks.json', '[{"id": 1, "id": 2, "config": {"url": "a:b"}, "active": true}]'),
        ],
      ],
    },
    {
      rule: 'A row has the shape of its entity.',
      accepts: [
        [
          'optional and nullable fields',
          (w) => Object.assign(w.json['data/cards.json'][1], { estimate: null, cover: null }),
        ],
      ],
      refuses: [
        [
          'a text with half a character',
          'bad_row',
          (w) => (w.json['data/cards.json'][0].title = 'a\ud800'),
        ],
        [
          'a row that breaks the shape',
          'bad_row',
          (w) => (w.json['data/cards.json'][0].state = 'closed'),
        ],
        ['a row without a field', 'bad_row', (w) => delete w.json['data/cards.json'][1].title],
        [
          'a row that breaks a pattern',
          'bad_row',
          (w) => (w.json['data/cards.json'][1].code = 'ab-1'),
        ],
        [
          'a field that the shape does not have',
          'bad_row',
          (w) => (w.json['data/cards.json'][1].colour = 'red'),
        ],
      ],
    },
    {
      rule: 'No two rows have one key.',
      accepts: [['the small world', asItIs]],
      refuses: [['a key twice', 'duplicate_row', (w) => (w.json['data/cards.json'][1].id = 1)]],
    },
    {
      rule: 'No two rows have the values of a unique list in common.',
      accepts: [
        [
          'nulls',
          (w) => {
            inExtension((x) => (x.entities.cards.unique = [['code']]))(w);
            w.json['data/cards.json'][1].code = null;
          },
        ],
      ],
      refuses: [
        [
          'a unique list twice',
          'duplicate_row',
          (w) => (w.json['data/lists.json'][1].name = 'Next'),
        ],
        [
          'a nested unique list twice',
          'duplicate_row',
          (w) => (w.json['data/cards.json'][1].title = 'Card 1'),
        ],
      ],
    },
    {
      rule: 'References lead to rows.',
      accepts: [['another row', (w) => (w.json['data/cards.json'][1].list_id = 2)]],
      refuses: [
        [
          'a reference to nothing',
          'missing_reference',
          (w) => (w.json['data/cards.json'][1].list_id = 9),
        ],
      ],
    },
  ],
};
