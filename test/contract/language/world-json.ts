/** Corpus chapter about the OpenAPI document of a world and its `x-svc` object. */

import { replaceIn } from '../../support/worlds/small-world.ts';
import {
  asItIs,
  environment,
  inExtension,
  inWorld,
  onlyModel,
  worldFile,
} from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

export const worldJsonRules: Chapter = {
  title: 'schema/world.json',
  rules: [
    {
      rule: '`$schema` is exactly JSON Schema 2020-12.',
      accepts: [['the small world', asItIs]],
      refuses: [
        [
          'another dialect',
          'bad_value',
          inWorld((d) => (d.$schema = 'http://json-schema.org/draft-07/schema#')),
        ],
        ['no dialect', 'missing_key', inWorld((d) => delete d.$schema)],
      ],
    },
    {
      rule: '`$id` is an absolute URI without a fragment.',
      accepts: [['a URL', inWorld((d) => (d.$id = 'https://x.example/world.json'))]],
      refuses: [
        ['a relative $id', 'bad_value', inWorld((d) => (d.$id = 'world.json'))],
        ['an $id with a fragment', 'bad_value', inWorld((d) => (d.$id = 'urn:svc:a#b'))],
      ],
    },
    {
      rule: 'The document holds `$schema`, `$id`, `$defs` and `x-svc`, and nothing else.',
      accepts: [['the small world', asItIs]],
      refuses: [
        ['an unknown member', 'unknown_key', inWorld((d) => (d.type = 'object'))],
        ['no x-svc', 'missing_key', onlyModel(inWorld((d) => delete d['x-svc']))],
      ],
    },
    {
      rule: 'All members of `x-svc` are required, and no others are known.',
      accepts: [['the small world', asItIs]],
      refuses: [
        ['an unknown x-svc member', 'unknown_key', inExtension((x) => (x.entity = {}))],
        [
          'no tools',
          'missing_key',
          (w) => {
            delete w.json[worldFile]['x-svc'].tools;
            replaceIn(
              w,
              environment,
              'serve = ["summarize", "cards.archive", "get_card", "list_cards"]',
              'serve = []',
            );
            replaceIn(w, environment, 'tools = ["list_cards"]', '');
          },
        ],
        ['no entities', 'missing_key', onlyModel(inExtension((x) => delete x.entities))],
      ],
    },
    {
      rule: '`version` is exactly 1.',
      accepts: [['the small world', asItIs]],
      refuses: [
        ['another version', 'bad_value', inExtension((x) => (x.version = 2))],
        ['a version in a text', 'bad_value', inExtension((x) => (x.version = '1'))],
      ],
    },
    {
      rule: '`domain_version` has 1 to 256 characters.',
      accepts: [['256 characters', inExtension((x) => (x.domain_version = 'x'.repeat(256)))]],
      refuses: [
        ['no domain_version', 'missing_key', inExtension((x) => delete x.domain_version)],
        ['an empty domain_version', 'bad_value', inExtension((x) => (x.domain_version = ''))],
        [
          'a long domain_version',
          'bad_value',
          inExtension((x) => (x.domain_version = 'x'.repeat(257))),
        ],
      ],
    },
    {
      rule: '`package` is exactly `{id, version}`, both filled.',
      accepts: [['the small world', asItIs]],
      refuses: [
        ['a package with more keys', 'unknown_key', inExtension((x) => (x.package.url = 'u'))],
        ['a package without id', 'missing_key', inExtension((x) => delete x.package.id)],
        ['an empty package version', 'bad_value', inExtension((x) => (x.package.version = ''))],
      ],
    },
  ],
};
