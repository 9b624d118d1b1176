/** Corpus chapter about signatures of tools, and the code that answers their calls. */

import { replaceIn } from '../../support/worlds/small-world.ts';
import {
  append,
  asItIs,
  connector,
  environment,
  inExtension,
  put,
  replace,
  worldFile,
} from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const toolsRules: Chapter = {
  title: 'Tools',
  rules: [
    {
      rule: 'Tools declared and tools served are the same, without repeats.',
      accepts: [
        [
          'in another order',
          replace(environment, '"summarize", "cards.archive"', '"cards.archive", "summarize"'),
        ],
      ],
      refuses: [
        ['a tool that is not served', 'tool_not_served', replace(environment, '"get_card", ', '')],
        [
          'a tool that is not declared',
          'tool_not_declared',
          replace(environment, '"get_card", ', '"get_card", "get_cards", '),
        ],
        [
          'a tool served twice',
          'duplicate',
          replace(environment, '"get_card", ', '"get_card", "get_card", '),
        ],
      ],
    },
    {
      rule: 'A tool has an input, which is an object, and an output.',
      accepts: [
        [
          'an input by reference',
          inExtension((x) => (x.tools.summarize.input = { $ref: '#/$defs/Cover' })),
        ],
      ],
      refuses: [
        ['a tool without input', 'missing_key', inExtension((x) => delete x.tools.summarize.input)],
        [
          'a tool without output',
          'missing_key',
          inExtension((x) => delete x.tools.summarize.output),
        ],
        [
          'a tool whose input is a list',
          'type_mismatch',
          inExtension((x) => (x.tools.summarize.input = { type: 'array' })),
        ],
        [
          'an unknown key of a tool',
          'unknown_key',
          inExtension((x) => (x.tools.summarize.inputs = {})),
        ],
      ],
    },
    {
      rule: 'Names of tools match `[A-Za-z][A-Za-z0-9_.-]*`.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'a tool with a bad name',
          'bad_name',
          (w) => {
            const { tools } = w.json[worldFile]['x-svc'];
            tools['get card'] = tools.get_card;
          },
        ],
      ],
    },
    {
      rule: 'Each tool is answered by exactly one function, operation or convention.',
      accepts: [
        [
          'a function instead of a convention',
          append('tools.py', 'def list_cards(state=None):\n    return []\n'),
        ],
      ],
      refuses: [
        [
          'a tool that nothing answers',
          'unimplemented_tool',
          put('tools.py', '# def summarize():\n'),
        ],
        [
          'a tool with two functions',
          'ambiguous_tool',
          append('tools.ts', 'export const summarize = async () => ({});\n'),
        ],
      ],
    },
    {
      rule: 'A tool answered by an operation takes the arguments of its path.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          "a tool without its operation's argument",
          'unknown_argument',
          inExtension(
            (x) =>
              (x.tools.get_card.input = {
                type: 'object',
                additionalProperties: false,
                properties: { id: {} },
              }),
          ),
        ],
      ],
    },
    {
      rule: 'A tool answered by an operation has its answer as output, envelope included.',
      accepts: [
        [
          'an envelope on both sides',
          (w) => {
            replaceIn(w, connector, 'single = true\nenvelope = ""', 'single = true');
            const { tools } = w.json[worldFile]['x-svc'];
            tools.get_card.output = { type: 'object', properties: { data: { type: 'object' } } };
          },
        ],
      ],
      refuses: [
        [
          'an envelope that the output has not',
          'type_mismatch',
          replace(connector, 'single = true\nenvelope = ""', 'single = true'),
        ],
        [
          'an output that is no list',
          'type_mismatch',
          replace(connector, 'single = true\nenvelope = ""', 'envelope = ""'),
        ],
      ],
    },
  ],
};
