import {
  append,
  describeRefusals,
  environment,
  inExtension,
  put,
  type Refusal,
  replace,
  worldFile,
} from '#test/support/language-refusals.ts';

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
];

describeRefusals('tools', toolRules);
describeRefusals('svc-env.toml', environmentRules);
