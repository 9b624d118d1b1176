import {
  describeRefusals,
  drop,
  put,
  type Refusal,
  replace,
  scenario,
} from '#test/support/language-refusals.ts';
import { replaceIn } from '#test/support/small-world.ts';

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

describeRefusals('rows', rowRules);
describeRefusals('tasks', taskRules);
