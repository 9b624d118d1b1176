/**
 * The stable names of the rules a tree can break, grouped by what they are about. Clients and tests
 * tell problems apart by these; `docs/world-language.md` says what each means.
 */
export const problemCodes = [
  // The tree
  'bad_path',
  'too_many_files',
  'file_too_large',
  'tree_too_large',
  'missing_file',
  'unsupported_file',
  'not_utf8',
  'more_problems',
  // The notation
  'syntax',
  'duplicate_key',
  'too_deep',
  'unsafe_number',
  // Keys and values of a table
  'unknown_key',
  'unsupported_key',
  'missing_key',
  'unexpected_key',
  'wrong_type',
  'bad_value',
  'too_many',
  'duplicate',
  // Names
  'bad_name',
  'reserved_name',
  'name_collision',
  // Schemas
  'unknown_keyword',
  'unsupported_keyword',
  'bad_reference',
  'reference_cycle',
  'schema_too_complex',
  'bad_pattern',
  // Entities
  'not_closed',
  'composed_root',
  'bad_primary_key',
  'bad_unique',
  'bad_relationship',
  'unknown_entity',
  'unknown_field',
  'type_mismatch',
  // Tools
  'tool_not_served',
  'tool_not_declared',
  'unimplemented_tool',
  'ambiguous_tool',
  // Routes
  'duplicate_route',
  'unknown_argument',
  'unknown_function',
  // Redaction
  'two_modes',
  'entity_path',
  // Rows and tasks
  'bad_row',
  'duplicate_row',
  'missing_reference',
  'ambiguous_grader',
] as const;

export type ProblemCode = (typeof problemCodes)[number];
