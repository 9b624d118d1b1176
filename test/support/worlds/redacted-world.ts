/** A small world that redacts personal data in its rows, for tests of the paths by which rows are written. */
import type { TreeFile } from '#domain/world.ts';

const text = (path: string, content: string): TreeFile => ({
  path,
  content: new TextEncoder().encode(content),
});

const texts = { type: 'array', items: { type: 'string' } };

const person = {
  type: 'object',
  additionalProperties: false,
  required: ['id'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    email: { type: 'string' },
    emails: { type: 'array', items: texts },
    phone: { type: 'string' },
    profile: { type: 'string', format: 'uri' },
    ssn: { type: 'string' },
    lat: { type: 'number' },
    orders: {
      type: 'array',
      items: { type: 'object', properties: { to: { type: 'string' }, sum: { type: 'number' } } },
    },
  },
};

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:svc:test:people',
  $defs: {},
  'x-svc': {
    version: 1,
    domain_version: '1',
    package: { id: 'people', version: '1.0.0' },
    entities: { people: { schema: person, primary_key: ['id'] } },
    tools: {},
  },
};

const environment = `[schema]
language = "svc-world/1"

[environment]
name = "People"
kind = "mock-tools"

[tools]
serve = []
`;

const connector = `[connector]
slug = "crm"
base_url = "https://api.crm.example"

[auth]
scheme = "none"

[redact]
hash = ["email", "emails", "to", "profile"]
drop = ["ssn", "notes"]
preserve = ["name", "phone"]
round = { lat = 1 }
`;

/** Builds the tree of the world; without its connector nothing can be redacted. */
export const redactedWorld = ({ withConnector = true } = {}): TreeFile[] => [
  text('schema/world.json', JSON.stringify(schema, null, 2)),
  text('svc-env.toml', environment),
  ...(withConnector ? [text('connector.toml', connector)] : []),
];
