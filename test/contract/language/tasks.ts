/** Corpus chapter about scenarios, and about tasks graded by a query. */

import { replaceIn } from '../../support/worlds/small-world.ts';
import {
  append,
  asItIs,
  both,
  drop,
  environment,
  put,
  replace,
  scenario,
} from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

const verifier = 'verifiers/all_done.sql';

const solvePy = put('scenarios/finish/solve.py', 'def solve():\n    pass\n');

/** Returns a solution that consists of one request. */
const asking = (method: string, path: string): string =>
  `[[solution.steps]]\nanswer = { id = 3 }\n[[solution.steps]]\nrequest = { method = "${method}", path = "${path}" }\n`;

/** Returns an allowance in the notation of a scenario. */
const allowing = (fields: string, where = '', entity = 'cards'): string =>
  `[[grader.changes.allow]]\nentity = "${entity}"\n${fields}\n${where && `where = { ${where} }`}\n`;

export const tasksRules: Chapter = {
  title: 'Tasks',
  rules: [
    {
      rule: 'A folder of `scenarios/` holds `scenario.toml` and the files of a scenario.',
      accepts: [['no instruction', drop('scenarios/finish/instruction.md')]],
      refuses: [
        ['no scenario.toml', 'missing_file', drop(scenario)],
        ['a misspelt file', 'unsupported_file', put('scenarios/finish/checks.py', '')],
        ['a file beside the folders', 'unsupported_file', put('scenarios/finish.toml', '')],
      ],
    },
    {
      rule: '`scenario.toml` has known keys.',
      accepts: [['a name', replace(scenario, 'description', 'name = "to-finish"\ndescription')]],
      refuses: [
        ['an unknown key', 'unknown_key', replace(scenario, 'description', 'descripton')],
        ['another seed mode', 'bad_value', replace(scenario, '"append"', '"upsert"')],
        ['another grader', 'bad_value', replace(scenario, '"assertions"', '"model"')],
      ],
    },
    {
      rule: 'A task has one grader, with checks.',
      accepts: [['no grader', put(scenario, '')]],
      refuses: [
        [
          'a grader without checks',
          'bad_value',
          put(scenario, '[grader]\nkind = "assertions"\nchecks = []\n'),
        ],
        ['two graders', 'ambiguous_grader', put('scenarios/finish/checks/verify.py', '')],
      ],
    },
    {
      rule: 'Checks have names of their own.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'a check twice',
          'duplicate',
          replace(scenario, 'it was closed over the API', 'the card is done'),
        ],
      ],
    },
    {
      rule: 'A check asks for what a row can have.',
      accepts: [
        ['a whole path as one key', replace(scenario, 'author.login', '"author.login"')],
        ['a pointer', replace(scenario, 'author.login', '"/author/login"')],
        [
          'what the ledger has inside',
          replace(
            scenario,
            'via = "api"',
            'status = 200, rows.0.entity = "cards", changes.cards.updated = 1, request.body.any = "x"',
          ),
        ],
      ],
      refuses: [
        ['a check of no entity', 'unknown_entity', replace(scenario, '"cards"', '"card"')],
        ['a check of no field', 'unknown_field', replace(scenario, 'author.login', 'author.name')],
        [
          'a check of no field of the ledger',
          'unknown_field',
          replace(scenario, 'via = "api"', 'kind = "api"'),
        ],
        [
          'a check of no field inside the ledger',
          'unknown_field',
          replace(scenario, 'via = "api"', 'rows.0.entiy = "cards"'),
        ],
        [
          'a check that no entry of the ledger can pass',
          'type_mismatch',
          replace(scenario, 'via = "api"', 'via = "apis"'),
        ],
        [
          'a check that no row can pass',
          'type_mismatch',
          replace(scenario, '["done"]', '["done", "closed"]'),
        ],
        ['a check of a list', 'type_mismatch', replace(scenario, 'id = 3', 'labels = "a"')],
        [
          'a check by an object in a list',
          'wrong_type',
          replace(scenario, '["done"]', '[{ a = 1 }]'),
        ],
        ['a negative count', 'bad_value', replace(scenario, 'count = 1', 'count = -1')],
      ],
    },
    {
      rule: 'What a grader lets change is something that the world has.',
      accepts: [
        ['a closed world', append(scenario, '[grader.changes]\nclosed = true\n')],
        [
          'fields of some rows',
          append(scenario, allowing('fields = ["author.login"]', 'state = "done"')),
        ],
        ['rows of a linked world', append(scenario, allowing('', '', 'crm.contacts'))],
        [
          'changes of a task that a function grades',
          put(
            'scenarios/verified/scenario.toml',
            'name = "verified-by-code"\n[grader.changes]\nclosed = true\n',
          ),
        ],
      ],
      refuses: [
        ['no entity', 'unknown_entity', append(scenario, allowing('', '', 'card'))],
        ['no field', 'unknown_field', append(scenario, allowing('fields = ["author.name"]'))],
        ['no such rows', 'type_mismatch', append(scenario, allowing('', 'state = "closed"'))],
        [
          'a grader that has only changes',
          'missing_key',
          put(scenario, '[grader]\nkind = "assertions"\n[grader.changes]\nclosed = true\n'),
        ],
      ],
    },
    {
      rule: 'Tasks have names of their own.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'two tasks of a name',
          'duplicate',
          replace(scenario, 'description', 'name = "verified-by-code"\ndescription'),
        ],
      ],
    },
    {
      rule: 'Seed rows fit the world.',
      accepts: [
        [
          "rows in place of the world's",
          (w) => {
            replaceIn(w, scenario, '"append"', '"replace"');
          },
        ],
      ],
      refuses: [
        [
          'a seed row that breaks the shape',
          'bad_row',
          (w) => (w.json['scenarios/finish/seed/cards.json'][0].id = '3'),
        ],
        [
          "a seed row with a key of the world's",
          'duplicate_row',
          (w) => (w.json['scenarios/finish/seed/cards.json'][0].id = 2),
        ],
        [
          'a seed row that refers to nothing',
          'missing_reference',
          (w) => (w.json['scenarios/finish/seed/cards.json'][0].list_id = 9),
        ],
        [
          "a seed that replaces rows which the world's refer to",
          'missing_reference',
          (w) => {
            replaceIn(w, scenario, '"append"', '"replace"');
            delete w.json['scenarios/finish/seed/cards.json'];
            w.json['scenarios/finish/seed/lists.json'] = [{ id: 7, name: 'Other' }];
          },
        ],
        [
          'a seed that refers to rows it replaces',
          'missing_reference',
          (w) => {
            replaceIn(w, scenario, '"append"', '"replace"');
            w.json['scenarios/finish/seed/lists.json'] = [{ id: 7, name: 'Other' }];
          },
        ],
      ],
    },
    {
      rule: 'A verifier task has a name, a verifier and known keys.',
      accepts: [
        [
          'the form without an object',
          put('tasks.json', '[{"name": "t", "verifier": "all_done"}]'),
        ],
      ],
      refuses: [
        [
          'a verifier task without name',
          'missing_key',
          replace(environment, 'name = "queried"\n', ''),
        ],
        [
          'a verifier task without verifier',
          'missing_key',
          replace(environment, 'verifier = "all_done"\n', ''),
        ],
        [
          'a verifier outside its folder',
          'bad_value',
          replace(environment, '"all_done"', '"../all_done"'),
        ],
        [
          'a verifier that is not there',
          'missing_file',
          replace(environment, 'verifier = "all_done"', 'verifier = "all_gone"'),
        ],
        [
          'a tool that is not there',
          'unknown_tool',
          replace(environment, 'tools = ["list_cards"]', 'tools = ["list_card"]'),
        ],
        [
          'two tasks of one name',
          'duplicate',
          replace(environment, 'name = "queried"', 'name = "finish"'),
        ],
        [
          'an unknown key of a task',
          'unknown_key',
          put('tasks.json', '[{"name": "t", "verifier": "all_done", "seed": 1}]'),
        ],
        ['tasks that are no list', 'wrong_type', put('tasks.json', '3')],
      ],
    },
    {
      rule: 'A solution is a list of steps, or a script beside the scenario.',
      accepts: [
        ['steps', append(scenario, '[[solution.steps]]\nanswer = 3\n')],
        [
          'a request to a route, with its query',
          append(scenario, asking('GET', '/cards?state=open')),
        ],
        ['a HEAD request', append(scenario, asking('HEAD', '/cards/{steps[0].output.id}'))],
        ['a script', both(append(scenario, '[solution]\nscript = "solve.py"\n'), solvePy)],
        [
          'a script as an alternative',
          both(append(scenario, '[[alternatives]]\nscript = "solve.py"\n'), solvePy),
        ],
      ],
      refuses: [
        ['a route that is not there', 'bad_value', append(scenario, asking('GET', '/card/3'))],
        ['a method that no route has', 'bad_value', append(scenario, asking('PUT', '/cards/3'))],
        [
          'a script that is not there',
          'missing_file',
          append(scenario, '[solution]\nscript = "solve.py"\n'),
        ],
        [
          'a script elsewhere',
          'bad_value',
          append(scenario, '[solution]\nscript = "../solve.py"\n'),
        ],
        [
          'a script in another language',
          'bad_value',
          append(scenario, '[solution]\nscript = "solve.sh"\n'),
        ],
        ['a script that nothing names', 'unsupported_file', solvePy],
        [
          'a script too long',
          'file_too_large',
          both(
            append(scenario, '[solution]\nscript = "solve.py"\n'),
            put('scenarios/finish/solve.py', '#'.repeat(65_537)),
          ),
        ],
        [
          'steps and a script',
          'bad_value',
          both(append(scenario, '[solution]\nscript = "solve.py"\nsteps = []\n'), solvePy),
        ],
        ['neither', 'bad_value', append(scenario, '[solution]\n')],
        [
          'a step that calls no tool of the world',
          'bad_value',
          append(scenario, '[[solution.steps]]\ntool = "finish"\n'),
        ],
      ],
    },
    {
      rule: 'A verifier is one query that tells whether the task is done.',
      accepts: [
        ['one row of one column', put(verifier, 'select count(*) = 0 as passed from cards')],
      ],
      refuses: [
        [
          'a verifier that no task names',
          'unsupported_file',
          put('verifiers/other.sql', 'select 1 as passed'),
        ],
        ['a verifier of no query', 'bad_verifier', put(verifier, '-- nothing\n')],
        ['a verifier that is no SQL', 'bad_verifier', put(verifier, 'selekt 1')],
        [
          'a verifier of an unknown table',
          'bad_verifier',
          put(verifier, 'select 1 as passed from crads'),
        ],
        [
          'a verifier of an unknown column',
          'bad_verifier',
          put(verifier, 'select stat as passed from cards'),
        ],
        [
          'a verifier that answers something else',
          'bad_verifier',
          put(verifier, 'select count(*) from cards'),
        ],
        [
          'a verifier of two statements',
          'bad_verifier',
          put(verifier, 'select 1 as passed; select 2'),
        ],
        ['a verifier that writes', 'bad_verifier', put(verifier, 'delete from cards')],
        ['a verifier that opens a file', 'bad_verifier', put(verifier, "attach 'x.db' as x")],
        ['a verifier that sets a pragma', 'bad_verifier', put(verifier, 'pragma user_version = 1')],
      ],
    },
  ],
};
