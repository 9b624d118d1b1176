/**
 * Worlds of people for tests of reading rows. Each person has an id, a unique address, and further fields as needed. A
 * world may be linked to others by those fields, and store digests of addresses.
 */
import type { TreeFile } from '#domain/world.ts';
import type { RedactPolicy, Row } from '#language/contract.ts';
import { encodeTree } from './worlds.ts';

const worldJson = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:svc:test:people',
  'x-svc': {
    version: 1,
    domain_version: '1',
    package: { id: 'people', version: '1.0.0' },
    entities: {
      people: {
        schema: {
          type: 'object',
          additionalProperties: false,
          required: ['id', 'email'],
          properties: {
            id: { type: 'integer' },
            email: { type: 'string' },
            plan: { type: ['string', 'null'] },
            note: { type: 'string' },
            boss: { type: ['integer', 'null'] },
            address: {
              type: 'object',
              additionalProperties: false,
              properties: { city: { type: 'string' }, tags: { type: 'array' } },
            },
          },
        },
        primary_key: ['id'],
        unique: [['email']],
        relationships: [{ fields: ['boss'], target: 'people', on_delete: 'restrict' }],
      },
    },
    tools: {},
  },
};

const manifest = (links: string): string => `\
[schema]
language = "svc-world/1"

[environment]
name = "People"
kind = "mock-tools"
db = "sqlite"
connector = "custom"

[db]
engine = "sqlite"

[tools]
serve = []

${links}
`;

const connector = (slug: string): string => `\
[connector]
slug = "${slug}"
base_url = "https://people.example.test"

[redact]
hash = ["email"]
drop = ["note"]

[[operations]]
name = "list_people"
path = "/people"
entity = "people"
`;

/** Returns the policy of a world that stores digests. */
export const peoplePolicy = (slug: string): RedactPolicy => ({
  slug,
  hash: ['email'],
  drop: ['note'],
  preserve: [],
  round: {},
});

type PeopleWorld = {
  slug: string;
  rows: Row[];
  /** Lines of the manifest. */
  links?: string;
  /** Salt of its digests; if absent, the world stores addresses unredacted. */
  salt?: string;
};

/** Builds the body that creates a world of people. */
export const peopleBody = ({ slug, rows, links = '', salt }: PeopleWorld) => {
  const files: Record<string, string> = {
    'svc-env.toml': manifest(links),
    'schema/world.json': JSON.stringify(worldJson),
    ...(salt === undefined ? {} : { 'connector.toml': connector(salt) }),
  };
  const tree = Object.entries(files).map(
    ([path, text]): TreeFile => ({ path, content: Buffer.from(text) }),
  );
  return { slug, from: encodeTree(tree), data: { rows: { people: rows } } };
};
