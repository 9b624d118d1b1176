/**
 * Stable codes of the rules that a tree can violate, grouped by subject, each with a description and the way out.
 * Clients and tests identify problems by these codes, whose meaning never changes. `docs/write-worlds/problems.md` is
 * generated from this file and the corpus: run `make docs` after a change here, and give every new code a case in
 * `test/contract/language/`.
 */
const groups = {
  'The tree': {
    bad_path:
      'A path that leaves the tree, is absolute, holds a control character, means something else on some system (`NUL`, `a:b`, `.git/config`, a hidden folder), or names the same file as another on some file system. Rename the file.',
    too_many_files: 'A tree of more files than a world may have. Leave out what no world needs.',
    file_too_large:
      'A file above the limit for its kind. Split rows over the files of more entities, or leave the file out.',
    tree_too_large: 'A tree of more bytes than a world may have. Leave out what no world needs.',
    missing_file: 'A file that must be there is not. Add it, or remove what asks for it.',
    unsupported_file:
      'A file in a folder of the language that nothing would read, usually a misspelt one. Rename or remove it; notes in `.md` are welcome everywhere.',
    not_utf8: 'A file of the language that is not UTF-8 text. Save it as UTF-8.',
    stale_artifact:
      'A generated file that is missing or no longer what the hand-written files compile to. Compile the world again.',
    edited_artifact:
      'A generated file that was changed by hand. Change the hand-written files instead, and compile the world again.',
  },
  'The notation': {
    syntax:
      'A file that is not valid JSON, TOML, Python or TypeScript. Nothing else in the file is looked at until it is. Node erases types and runs the rest, so TypeScript has no `enum`, `namespace` or parameter properties.',
    duplicate_key:
      'A key written twice in one JSON object, of which readers would silently keep the last. Remove one of them.',
    too_deep: 'Lists and tables inside one another in too many levels. Flatten them.',
    unsafe_number:
      'A number with more digits than are kept exactly. Write it as a text, and declare it as one.',
  },
  'Keys and values': {
    unknown_key: 'A key that the table does not have. Correct its spelling, or leave it out.',
    missing_key: 'A key or table that must be there is not. Add it.',
    unexpected_key:
      'A key of the language that is of no use here, beside what else the table says. Leave it out, or change what it depends on.',
    wrong_type: 'A value of another type than the key takes. The message says which.',
    bad_value: 'A value of the right type that the key cannot have. The message says which it can.',
    too_many: 'More of something than a world may have. Leave out what is not needed.',
    duplicate:
      'A name or value that must be unique where it stands, given twice. Rename or remove one.',
  },
  Names: {
    bad_name: 'A name with characters that names of its kind cannot have. Rename it.',
    reserved_name:
      'A name that the store, the service or JavaScript keeps for itself. Choose another one.',
    name_collision:
      'Two names that differ only by case, which SQL takes for one. Rename one of them.',
  },
  Schemas: {
    unknown_keyword:
      'A keyword that JSON Schema 2020-12 does not have. Correct its spelling; notes of your own begin with `x-`.',
    unsupported_keyword:
      'A keyword of JSON Schema, or of OpenAPI, that worlds do without. The message says what to write in its place.',
    bad_reference:
      'A `$ref` to anything but a definition of this document or of a sibling file. Write `#/$defs/<Name>` or `sibling.json#/$defs/<Name>`.',
    reference_cycle:
      'A schema that refers to itself for the same value. Refer to it from a property or a list item.',
    schema_too_complex:
      'Schemas so large or so interwoven that checking a row would take too long. Simplify them.',
    bad_pattern:
      'A pattern that is no regular expression, is too long, or needs look-around or back-references, which do not run in linear time.',
  },
  Entities: {
    not_closed:
      'A row shape that is not a closed object. Set `"type": "object"` and `"additionalProperties": false`.',
    composed_root:
      'A row shape that is put together of others. Write its fields out, or use `$ref` for the whole shape or for single fields.',
    bad_primary_key:
      'A key field that is not required, may be null, or is neither a string nor an integer.',
    bad_unique:
      'A `unique` field that is written as a dotted path, or cannot be indexed. Reach nested values by JSON pointer.',
    bad_relationship:
      'A relationship whose fields do not match the primary key of its target, or lead to two targets.',
    unknown_entity:
      'A name that is no entity of `schema/world.json`. Correct its spelling, or declare the entity.',
    unknown_field:
      'A field, or a path to one, that the entity does not have. Correct it, or add it to the shape.',
    type_mismatch: 'A value, field or shape that can never fit what it is used for.',
  },
  Tools: {
    tool_not_served:
      'A tool that is declared in `x-svc.tools` and not served. Add it to `[tools] serve`, or declare it no longer.',
    tool_not_declared:
      'A tool that is served and not declared. Declare it in `x-svc.tools`, or take it out of `[tools] serve`.',
    unimplemented_tool:
      'A tool that no function, operation or convention answers. Write the function.',
    ambiguous_tool: 'A tool that two functions answer. Remove or rename one of them.',
    unknown_tool: 'A name that is no tool of the world. Correct its spelling, or declare the tool.',
  },
  Code: {
    unknown_import:
      'A module, or a name of one, that is not there when hosts run the code. Hosts have the standard library of Python 3.13 and the modules of Node that need no network, `svc_env`, and the files of the world. Python in `try`, or under `if TYPE_CHECKING`, may import what is missing.',
    unknown_name: 'A name that no line of the file defines or imports. Correct it, or define it.',
    unknown_member:
      'A member that the context of a handler or grader does not have. Correct its spelling.',
  },
  'The connector': {
    duplicate_route:
      'Two operations that would answer the same request. Change a path or a method.',
    unknown_argument:
      'A name that is neither an argument of the path nor a parameter of the operation. Declare it in `params`.',
    unknown_function: 'A function that the module does not define. Write it, or correct its name.',
    bad_paging:
      'A route whose pages cannot be turned, because its answers have no field for the next cursor.',
    bad_ingest: 'A rule of `[operations.ingest]` after which no captured row could fit its entity.',
    two_modes: 'A field in two lists of `[redact]`. Keep it in one.',
    entity_path:
      'A path of `[redact]` that begins with the name of an entity; rules have no entity scope. Write the path inside the row.',
    bad_ui_path:
      'A directory of `[ui]` that a world cannot serve: outside the tree, among other files of the language, or dropped from bundles as a build directory. Name another.',
    bad_capture:
      'A capture of an operation that the connector does not have, or in the folder of another. Move it, declare the operation, or remove it.',
  },
  'Links to other worlds': {
    bad_dependency:
      'A link of fields that is not from `<entity>.<field>` of this world to `<entity>.<field>` of the other.',
  },
  'Rows and tasks': {
    bad_row:
      'A row that does not have the shape of its entity. Correct the row, or widen the shape.',
    duplicate_row:
      'A row that repeats the key, or a `unique` list, of another. Change or remove one of them.',
    missing_reference:
      'A row that refers to a row that is not there. Add that row, or refer to another.',
    ambiguous_grader: 'A task with two graders. Keep one.',
    bad_verifier:
      'A verifier that is not one reading query with a column `passed`. The message says what is wrong.',
  },
  'Edits of a world': {
    entity_exists: 'Adding an entity of a name that is taken. Choose another one.',
    entity_in_use:
      'Removing an entity to which something refers. Change or remove what refers to it first.',
    unusable_capture:
      'Captures that no data model could fit, as a row lacks its key or two of them contradict each other. Capture again, or remove them.',
  },
  'The check itself': {
    more_problems:
      'There are more problems than are listed. Correct those listed, and check again.',
    out_of_time: 'Compiling the world took too long. Simplify its schemas, or give it fewer rows.',
    out_of_memory:
      'Compiling the world took too much memory. Simplify its schemas, or give it fewer rows.',
  },
} as const;

type CodesOf<Group> = Group extends unknown ? keyof Group & string : never;

export type ProblemCode = CodesOf<(typeof groups)[keyof typeof groups]>;

type ProblemGroup = {
  title: string;
  codes: readonly { code: ProblemCode; sentence: string }[];
};

/** All codes in the order of this file, grouped, each with its description and way out. */
export const problemGroups: readonly ProblemGroup[] = Object.entries(groups).map(
  ([title, codes]) => ({
    title,
    codes: Object.entries(codes).map(([code, sentence]) => ({
      code: code as ProblemCode,
      sentence,
    })),
  }),
);

export const problemCodes: readonly ProblemCode[] = problemGroups.flatMap(({ codes }) =>
  codes.map(({ code }) => code),
);
