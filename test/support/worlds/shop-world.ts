/** A shop with items as a vendor sells them: a hand-written world, which captures then change. */
import type { TreeFile } from '#domain/world.ts';
import { replaceFiles, textFile } from '#language/edit/tree-text.ts';

export const worldText = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:svc:test:shop",
  "$comment": "Written by hand.",
  "$defs": {
    "Id": { "type": "integer", "minimum": 1 },
    "Name": { "description": "What people read.", "type": "string", "maxLength": 5 }
  },
  "x-svc": {
    "version": 1,
    "domain_version": "1",
    "package": { "id": "shop", "version": "1" },
    "entities": {
      "items": {
        "schema": {
          "type": "object",
          "additionalProperties": false,
          "required": ["id", "name", "state"],
          "properties": {
            "id": { "$ref": "#/$defs/Id" },
            "name": { "$ref": "#/$defs/Name" },
            "state": { "x-note": "kept", "enum": ["new", "sold"] },
            "price": { "type": "integer" },
            "code": { "type": "string", "pattern": "^[A-Z]+$" },
            "owner": { "$ref": "people.json#/$defs/Person" },
            "shop_id": { "$ref": "#/$defs/Id" }
          }
        },
        "primary_key": ["id"],
        "relationships": [{ "fields": ["shop_id"], "target": "shops", "on_delete": "restrict" }]
      },
      "shops": {
        "schema": {
          "type": "object",
          "additionalProperties": false,
          "required": ["id"],
          "properties": { "id": { "$ref": "#/$defs/Id" } }
        },
        "primary_key": ["id"]
      }
    },
    "tools": {}
  }
}
`;

const peopleText = `{
  "$defs": {
    "Person": {
      "type": "object",
      "additionalProperties": false,
      "required": ["login"],
      "properties": { "login": { "type": "string" }, "boss": { "$ref": "#/$defs/Person" } }
    }
  }
}
`;

export const connectorText = `
[connector]
slug = "shop"
base_url = "https://shop.example"

[[operations]]
name = "list_items"
path = "/shops/{shop}/items"
entity = "items"
results = "items"
[operations.ingest]
carry_args = { shop_id = "shop" }

[[operations]]
name = "add_item"
method = "POST"
path = "/items"
entity = "items"
[operations.api]
action = "create"
body = { name = "name" }
defaults = { state = "new" }
generate = { id = "int" }
`;

const environmentText =
  '[schema]\nlanguage = "svc-world/1"\n[environment]\nname = "Shop"\nkind = "mock-tools"\n[tools]\nserve = []\n';

/** Builds an answer of the operation `list_items`. */
export const capture = (name: string, items: unknown[], more: object = {}): TreeFile =>
  textFile(
    `captures/list_items/${name}.json`,
    JSON.stringify({
      operation: 'list_items',
      arguments: { shop: '7' },
      status: 200,
      body: { items },
      ...more,
    }),
  );

/** Returns the world, with files added or replaced. */
export const shop = (...more: TreeFile[]): TreeFile[] =>
  replaceFiles(
    [
      textFile('schema/world.json', worldText),
      textFile('schema/people.json', peopleText),
      textFile('connector.toml', connectorText),
      textFile('svc-env.toml', environmentText),
    ],
    more,
  );
