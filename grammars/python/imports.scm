; Imports: `@import` is the statement, `@module` the module as written (dots included), `@name` what is taken from it,
; `@alias` the name it gets here, `@star` the star.

(import_statement
  name: (dotted_name) @module) @import

(import_statement
  name: (aliased_import
    name: (dotted_name) @module
    alias: (identifier) @alias)) @import

(import_from_statement
  module_name: [(dotted_name) (relative_import)] @module
  name: (dotted_name) @name) @import

(import_from_statement
  module_name: [(dotted_name) (relative_import)] @module
  name: (aliased_import
    name: (dotted_name) @name
    alias: (identifier) @alias)) @import

(import_from_statement
  module_name: [(dotted_name) (relative_import)] @module
  (wildcard_import) @star) @import

(future_import_statement
  name: (dotted_name) @name) @import
