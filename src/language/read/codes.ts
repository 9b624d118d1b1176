/**
 * Stable codes of the rules that a tree can violate, grouped by subject, each with a description and the way out.
 * Clients and tests identify problems by these codes, whose meaning never changes. `docs/write-worlds/problems.md` is
 * generated from this file and the corpus: run `make docs` after a change here, and give every new code a case in
 * `test/contract/language/`.
 */
const groups = {
  'The tree': {
    bad_path:
      'A path that leaves the tree, is absolute, has a control character, means something else on some system (`NUL`, `a:b`, `.git/config`, a hidden folder), or names the same file as another on some file system. Rename the file.',
    too_many_files:
      'A tree with more files than a world may have. Leave out files that the world does not need.',
    file_too_large:
      'A file above the limit for its kind. Split rows over the files of more entities, or leave the file out.',
    tree_too_large:
      'A tree with more bytes than a world may have. Leave out files that the world does not need.',
    missing_file: 'A file that must exist is missing. Add the file, or remove what requires it.',
    unsupported_file:
      'A file in a folder of the language that nothing would read, usually because its name is misspelt. Rename or remove the file; notes in `.md` are allowed everywhere.',
    not_utf8: 'A file of the language that is not UTF-8 text. Save the file as UTF-8.',
    stale_artifact:
      'A generated file that is missing, or differs from what the hand-written files compile to now. Compile the world again.',
    edited_artifact:
      'A generated file that was changed by hand. Change the hand-written files instead, and compile the world again.',
  },
  'The notation': {
    syntax:
      'A file that is not valid JSON, TOML, Python or TypeScript. Until it is valid, nothing else in the file is checked. Node only erases types, so TypeScript must not have `enum`, `namespace` or parameter properties.',
    duplicate_key:
      'A key that is written twice in one JSON object. Readers would silently use the last one. Remove one of them.',
    too_deep: 'Lists and tables that nest too deeply. Flatten them.',
    unsafe_number:
      'A number with more digits than can be stored exactly. Write the number as a text, and declare the field as a text.',
  },
  'Keys and values': {
    unknown_key: 'A key that the table does not have. Correct its spelling, or remove the key.',
    missing_key: 'A key or table that must exist is missing. Add it.',
    unexpected_key:
      'A key of the language that has no effect together with the other keys of the table. Remove the key, or change the keys on which it depends.',
    wrong_type:
      'A value of another type than the key requires. The message names the required type.',
    bad_value:
      'A value of the right type that the key does not allow. The message says which values are allowed.',
    too_many: 'More items of a kind than a world may have. Remove items that are not needed.',
    duplicate:
      'A name or value that must be unique in its place, but occurs twice. Rename or remove one of the two.',
  },
  Names: {
    bad_name:
      'A name with characters that are not allowed in names of its kind. Choose another name.',
    reserved_name:
      'A name that is reserved for the store, the service or JavaScript. Choose another name.',
    name_collision:
      'Two names that differ only by case, so that SQL treats them as the same. Rename one of them.',
  },
  Schemas: {
    unknown_keyword:
      'A keyword that JSON Schema 2020-12 does not have. Correct its spelling; your own annotations must begin with `x-`.',
    unsupported_keyword:
      'A keyword of JSON Schema, or of OpenAPI, that is not supported in worlds. The message says what to write instead.',
    bad_reference:
      'A `$ref` that does not lead to a definition of this document or of a sibling file. Write `#/$defs/<Name>` or `sibling.json#/$defs/<Name>`.',
    reference_cycle:
      'A schema that refers to itself for the same value, so that checking a value would never end. Refer to the schema from a property or a list item.',
    schema_too_complex:
      'Schemas that are so large, or refer to one another so often, that checking a row would take too long. Simplify them.',
    bad_pattern:
      'A pattern that is not a valid regular expression, is too long, or has look-around or back-references, which cannot be matched in linear time.',
  },
  Entities: {
    not_closed:
      'A row shape that is not a closed object. Set `"type": "object"` and `"additionalProperties": false`.',
    composed_root:
      'A row shape that is composed of other schemas. Write its fields out, or use `$ref` for the whole shape or for single fields.',
    bad_primary_key:
      'A key field that is not required, may be null, or is neither a string nor an integer.',
    bad_unique:
      'A `unique` field that is written as a dotted path, or cannot be indexed. Name a nested value by its JSON pointer.',
    bad_relationship:
      'A relationship whose fields do not match the primary key of its target, or already refer to another entity.',
    unknown_entity:
      'A name that is no entity of `schema/world.json`. Correct its spelling, or declare the entity.',
    unknown_field:
      'A field, or a path to a field, that the entity does not have. Correct the name, or add the field to the row shape.',
    type_mismatch:
      'A value, field or schema of a type that is impossible in its place, for example the input of a tool that is not an object.',
  },
  Tools: {
    tool_not_served:
      'A tool that is declared in `x-svc.tools` but not served. Add the tool to `[tools] serve`, or remove its declaration.',
    tool_not_declared:
      'A tool that is served but not declared. Declare the tool in `x-svc.tools`, or remove it from `[tools] serve`.',
    unimplemented_tool:
      'A tool that no function, operation or convention implements. Write the function.',
    ambiguous_tool: 'A tool that two functions implement. Remove or rename one of them.',
    unknown_tool:
      'A name that is not a tool of the world. Correct the spelling, or declare the tool.',
  },
  Code: {
    unknown_import:
      'A module, or a name in a module, that does not exist where hosts run the code. Hosts have the standard library of Python 3.13 and the modules of Node that need no network, `svc_env`, and the files of the world. Python code in `try`, or under `if TYPE_CHECKING`, may import missing modules.',
    unknown_name:
      'A name that the file neither defines nor imports. Correct the name, or define it.',
    unknown_member:
      'A member that the context of a handler or grader does not have. Correct its spelling.',
  },
  'The connector': {
    duplicate_route:
      'Two operations that would answer the same request. Change a path or a method.',
    unknown_argument:
      'A name that is neither an argument of the path nor a parameter of the operation. Declare the parameter in `params`.',
    unknown_function:
      'A function that the module does not define. Write the function, or correct the name.',
    bad_paging:
      'A route whose next page cannot be requested, because its answers have no place for the next cursor.',
    bad_ingest:
      'A rule of `[operations.ingest]` because of which no captured row could fit its entity.',
    two_modes: 'A field that is listed under two modes of `[redact]`. Leave it under one of them.',
    entity_path:
      'A path of `[redact]` that begins with the name of an entity. Rules apply to all entities, so write only the path inside the row.',
    bad_ui_path:
      'A directory of `[ui]` that a world cannot serve: it is outside the tree, among other files of the language, or left out of every push as a build directory. Choose another directory.',
    bad_capture:
      'A capture of an operation that the connector does not have, or a capture in the folder of another operation. Move the capture, declare the operation, or remove the capture.',
  },
  'Links to other worlds': {
    bad_dependency:
      'A link of fields that does not lead from `<entity>.<field>` of this world to `<entity>.<field>` of the other world.',
  },
  'Rows and tasks': {
    bad_row:
      'A row that is not valid by the row shape of its entity. Correct the row, or make the row shape allow it.',
    duplicate_row:
      'A row with the same key, or the same values of a `unique` list, as another row. Change or remove one of them.',
    missing_reference:
      'A row that refers to a missing row. Add the missing row, or refer to another row.',
    ambiguous_grader: 'A task with two graders. Remove one of them.',
    bad_verifier:
      'A verifier that is not one query, writes, or does not return a column `passed`. The message says what is wrong.',
  },
  'Edits of a world': {
    entity_exists: 'An entity was to be added, but its name is taken. Choose another name.',
    entity_in_use:
      'An entity was to be removed, but something refers to it. First change or remove what refers to the entity.',
    unusable_capture:
      'Captures to which no data model could be fitted, because a row lacks its key, or because rows contradict each other. Capture again, or remove these captures.',
  },
  'The check itself': {
    more_problems:
      'There are more problems than are listed. Correct the listed problems, and check again.',
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
