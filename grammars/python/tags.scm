; What a file defines, for the outline: `@definition.<kind>` is the whole statement, `@name` the name in it.
; Where two patterns match one name, the wider definition counts (a decorated one begins at its decorators).
; Nesting follows from the ranges; a function inside a class is a method, a variable inside a class an attribute.

(class_definition
  name: (identifier) @name) @definition.class

(decorated_definition
  definition: (class_definition
    name: (identifier) @name)) @definition.class

(function_definition
  name: (identifier) @name) @definition.function

(decorated_definition
  definition: (function_definition
    name: (identifier) @name)) @definition.function

; x = 1, x: int, x: int = 1, x = y = 1
(assignment
  left: (identifier) @name) @definition.variable

; x, y = pair  (deeper: tuples in tuples, starred names)
(assignment
  left: [
    (pattern_list (identifier) @name)
    (pattern_list (list_splat_pattern (identifier) @name))
    (pattern_list (tuple_pattern (identifier) @name))
    (pattern_list (tuple_pattern (list_splat_pattern (identifier) @name)))
    (tuple_pattern (identifier) @name)
    (tuple_pattern (list_splat_pattern (identifier) @name))
    (tuple_pattern (tuple_pattern (identifier) @name))
    (list_pattern (identifier) @name)
    (list_pattern (list_splat_pattern (identifier) @name))
  ]) @definition.variable

; type Pair[T] = tuple[T, T]
(type_alias_statement
  left: (type [
    (identifier) @name
    (generic_type (identifier) @name)
  ])) @definition.type
