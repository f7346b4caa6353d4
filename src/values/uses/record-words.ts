/** What becomes of a value, by the words of Python, torch and tree-sitter that it stands with. */

/** Methods of loggers and progress bars of libraries: they give a text, a number or a line in a log. */
export const REPORTING =
  /^(?:pprint|echo|log|info|debug|warning|warn|error|critical|exception|print|write|log_(?:metrics?|scalars?|dict|values?|stats|history|step|epoch|message|line|row)|add_scalars?|add_histogram|set_postfix|set_postfix_str|set_description|set_description_str)$/;
export const SCHEDULE = /sched|plateau/i;
export const DIFFERENTIATES = /backward|gradient|closure|(?:^|_)(?:step|optimi[sz]e|minimi[sz]e|adapt)$/;
