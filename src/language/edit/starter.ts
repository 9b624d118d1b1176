/**
 * Files of the world that `init` writes without a template: one entity with two rows, tools for it that need no code,
 * and explanations of the next steps.
 */

/** Names that a starter writes into its files: the world's name, and its slug for identifiers. */
export type StarterNames = {
  name: string;
  slug: string;
  /** Name as a TOML string. */
  tomlName: string;
};

const worldJson = ({ slug }: StarterNames): string => `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:svc:world:${slug}",
  "$comment": "The data model and the tools of the world. Shapes that are used twice stand in $defs.",
  "$defs": {
    "Note": {
      "description": "A row of the entity notes.",
      "type": "object",
      "additionalProperties": false,
      "required": ["id", "title", "done"],
      "properties": {
        "id": { "type": "integer", "minimum": 1 },
        "title": { "type": "string", "minLength": 1 },
        "body": { "type": ["string", "null"] },
        "done": { "type": "boolean" }
      }
    }
  },
  "x-svc": {
    "version": 1,
    "domain_version": "1",
    "package": { "id": "${slug}", "version": "0.1.0" },
    "entities": {
      "notes": {
        "schema": { "$ref": "#/$defs/Note" },
        "primary_key": ["id"]
      }
    },
    "tools": {
      "list_notes": {
        "description": "The notes, all of them or those that are done or not.",
        "input": {
          "type": "object",
          "additionalProperties": false,
          "properties": { "done": { "type": "boolean" } }
        },
        "output": { "type": "array", "items": { "$ref": "#/$defs/Note" } }
      },
      "create_notes": {
        "description": "Writes a note down.",
        "input": { "$ref": "#/$defs/Note" },
        "output": { "$ref": "#/$defs/Note" }
      },
      "update_notes": {
        "description": "Changes the fields given of one note.",
        "input": {
          "type": "object",
          "additionalProperties": false,
          "required": ["id"],
          "properties": {
            "id": { "type": "integer" },
            "title": { "type": "string", "minLength": 1 },
            "body": { "type": ["string", "null"] },
            "done": { "type": "boolean" }
          }
        },
        "output": { "$ref": "#/$defs/Note" }
      }
    }
  }
}
`;

const environmentToml = ({ tomlName }: StarterNames): string => `\
# What this directory is: a world in the language svc-world/1. Its data model and its tools are in
# schema/world.json, its rows in data/.

[schema]
language = "svc-world/1"

[environment]
name = ${tomlName}
kind = "mock-tools"
connector = "custom"

[tools]
# The same names as "tools" of schema/world.json, each exactly once. Nothing here says how a tool
# works. It is, whichever comes first:
#   - a function of that name in tools.py or tools.ts,
#   - an operation of that name in connector.toml,
#   - for list_, get_, create_, update_ and delete_ with the name of an entity: those rows themselves.
serve = ["list_notes", "create_notes", "update_notes"]
`;

const readme = ({ name }: StarterNames): string => `\
# ${name}

A world that agents act on. It begins with notes, which can be listed, written and changed.

| File | Holds |
| - | - |
| \`schema/world.json\` | the entities, with their fields, keys and references, and the tools |
| \`svc-env.toml\` | what this directory is, and which tools it serves |
| \`data/<entity>.json\` | the rows that every session begins with |

## Next steps

- Check it: \`svc worlds schema check .\`
- **Another entity**: \`svc worlds schema entity add\`, then rows of it in \`data/\`. A reference to another
  entity is declared in \`relationships\`.
- **Another tool**: declare it in \`tools\` of \`schema/world.json\`, add it to \`serve\` in \`svc-env.toml\`,
  and write a function of its name in \`tools.py\` or \`tools.ts\`. A tool that is named \`list_\`, \`get_\`,
  \`create_\`, \`update_\` or \`delete_\` and an entity needs no function.
- **An HTTP API**: describe its routes in \`connector.toml\`.
- **A task**: a folder in \`scenarios/\` with \`scenario.toml\` and \`instruction.md\`.
`;

const notesJson = `[
  { "id": 1, "title": "Read the README", "body": null, "done": true },
  { "id": 2, "title": "Add an entity", "body": "svc worlds schema entity add", "done": false }
]
`;

/** Returns the starter's files, as texts by path. */
export const starterTexts = (names: StarterNames): Record<string, string> => ({
  'README.md': readme(names),
  'data/notes.json': notesJson,
  'schema/world.json': worldJson(names),
  'svc-env.toml': environmentToml(names),
});
