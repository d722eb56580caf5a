; Calls: `@call` is the whole expression, `@name` the last word of what is called, `@receiver` what stands before its dot.

(call
  function: (identifier) @name) @call

(call
  function: (attribute
    object: (_) @receiver
    attribute: (identifier) @name)) @call

; A decorator calls what it names.
(decorator
  (identifier) @name) @call

(decorator
  (attribute
    object: (_) @receiver
    attribute: (identifier) @name)) @call
