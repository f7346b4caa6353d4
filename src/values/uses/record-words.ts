/** What becomes of a value, by the words of Python, torch and tree-sitter that it stands with. */

/** Methods of loggers and progress bars of libraries: they give a text, a number or a line in a log. */
export const REPORTING =
  /^(?:pprint|echo|log|info|debug|warning|warn|error|critical|exception|print|write|log_(?:metrics?|scalars?|dict|values?|stats|history|step|epoch|message|line|row)|add_scalars?|add_histogram|set_postfix|set_postfix_str|set_description|set_description_str)$/;
export const SCHEDULE = /sched|plateau/i;
export const DIFFERENTIATES = /backward|gradient|closure|(?:^|_)(?:step|optimi[sz]e|minimi[sz]e|adapt)$/;
export const READ_ONLY: ReadonlySet<string> = new Set([
  'assert_statement',
  'comparison_operator',
  'delete_statement',
  'elif_clause',
  'expression_statement',
  'format_specifier',
  'if_clause',
  'if_statement',
  'interpolation',
  'not_operator',
  'print_statement',
  'raise_statement',
  'slice',
  'while_statement',
]);
export const HOLDING: ReadonlySet<string> = new Set([
  'await',
  'boolean_operator',
  'dictionary',
  'dictionary_comprehension',
  'dictionary_splat',
  'expression_list',
  'generator_expression',
  'keyword_argument',
  'list',
  'list_comprehension',
  'list_splat',
  'parenthesized_expression',
  'set',
  'set_comprehension',
  'tuple',
  'unary_operator',
]);
